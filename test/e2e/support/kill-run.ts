import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Actor, type Change, type Message, type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { openStore } from "../../../src/session/store/open-store.ts";
import { openSessions } from "../../../src/session/store-session-manager.ts";
import type { BuiltProgram, Life } from "./built-program.ts";
import { judgeThread } from "./kill-verdict.ts";
import { type NamingProvider, namesIn, questionName, startNamingProvider } from "./naming-provider.ts";
import { SeededRandom } from "./seeded-random.ts";

export interface KillRunPlan {
  readonly program: BuiltProgram;
  readonly seed: number;
  readonly messages: number;
  readonly threads: number;
  readonly kills: number;
  /** How many of the messages are said while nobody is there or the process only starts, from 0 to 1. */
  readonly awayShare: number;
  /** The sandbox's: how long Discord remembers a nonce. */
  readonly nonceMs: number;
  /** Whether Discord's rate limits hold. */
  readonly limits: boolean;
  /** Hears of each life as it ends. */
  readonly onLife?: (line: string) => void;
}

export interface KillRunResult {
  /** What is wrong, one sentence each. */
  readonly violations: readonly string[];
  readonly kills: number;
  readonly messages: number;
  readonly threads: number;
  readonly modelCalls: number;
  /** The store and what each process logged; kept if something is wrong. */
  readonly folder: string;
}

/** What a process is killed at, `count` times seen; `time`: so many milliseconds after its start. */
interface Trigger {
  readonly at: "time" | "sent" | "edited" | "thread" | "call" | "piece";
  readonly count: number;
}

/** A process that has nothing to do meets no trigger. */
const longestLifeMs = 6_000;
/** So long nothing happens any more when the last process has brought everything to its end … */
const quietMs = 2_000;
/** … and so long when it will not. */
const stuckMs = 20_000;

/**
 * Lets people talk to the real program, which is killed again and again wherever it is, and judges what stands in
 * the threads and in the store when the last process has come to rest.
 */
export async function killRun(plan: KillRunPlan): Promise<KillRunResult> {
  const folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-kill-"));
  const sandbox = await startSandbox({ keepToken: true, nonceMs: plan.nonceMs, limits: plan.limits });
  const run = new KillRun(plan, folder, sandbox);
  try {
    await run.begin();
    for (let kill = 0; kill < plan.kills; kill += 1) await run.liveAndDie(kill);
    const violations = [...(await run.liveToTheEnd()), ...(await run.judge())];
    const { messages, kills } = plan;
    const result = {
      violations,
      kills,
      messages,
      threads: sandbox.threads().length,
      modelCalls: run.modelCalls,
      folder,
    };
    if (violations.length === 0) await rm(folder, { recursive: true, force: true });
    return result;
  } finally {
    await run.end();
    await sandbox.close();
  }
}

class KillRun {
  readonly #plan: KillRunPlan;
  readonly #folder: string;
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  readonly #people: readonly Actor[];
  readonly #asked: Message[] = [];
  #provider: NamingProvider | undefined;
  #life: Life | undefined;
  #lives = 0;
  /** What the life that is going on is killed at, and how often that was seen. */
  #trigger: Trigger | undefined;
  #seen = 0;
  #lastChange = 0;
  #stopListening = () => {};

  constructor(plan: KillRunPlan, folder: string, sandbox: Sandbox) {
    this.#plan = plan;
    this.#folder = folder;
    this.#sandbox = sandbox;
    this.#random = new SeededRandom(plan.seed);
    this.#people = [sandbox.owner, sandbox.member("Grace")];
  }

  get modelCalls(): number {
    return this.#provider?.calls ?? 0;
  }

  async begin(): Promise<void> {
    this.#provider = await startNamingProvider({
      onCall: () => this.#happens("call"),
      onPiece: () => this.#happens("piece"),
    });
    this.#stopListening = this.#sandbox.onChange((change) => this.#notice(change));
    await mkdir(path.join(this.#folder, "lives"));
  }

  async end(): Promise<void> {
    this.#stopListening();
    this.#life?.kill("SIGKILL");
    await this.#life?.ended;
    await this.#provider?.close();
  }

  /** One process, from its start to its violent end, while people talk to it. */
  async liveAndDie(kill: number): Promise<void> {
    const { messages, kills } = this.#plan;
    const share = Math.floor((messages * (kill + 1)) / kills) - this.#asked.length;
    const [trigger, delay] = this.#draw();
    const life = this.#start();
    const ready = life.prints("is on Discord");
    const saying = Array.from({ length: share }, () => this.#say(ready));
    this.#trigger = trigger;
    const longest = setTimeout(() => life.kill("SIGKILL"), trigger.at === "time" ? trigger.count : longestLifeMs);
    await life.ended;
    clearTimeout(longest);
    this.#trigger = undefined;
    await this.#keepLog(life);
    this.#plan.onLife?.(
      `life ${kill + 1}: killed at ${trigger.at} ${trigger.count}, ${this.#asked.length} messages so far`,
    );
    await pause(delay);
    await Promise.all(saying);
  }

  /** The last process: everything that is open comes to its end. Tells what did not. */
  async liveToTheEnd(): Promise<string[]> {
    const life = this.#start();
    this.#lastChange = Date.now();
    while (Date.now() - this.#lastChange < (this.#isAnswered() ? quietMs : stuckMs)) await pause(100);
    const late = this.#isAnswered()
      ? []
      : [`not everything was answered, and nothing happened for ${stuckMs / 1000} s`];
    life.kill("SIGTERM");
    await life.ended;
    await this.#keepLog(life);
    return late;
  }

  async judge(): Promise<string[]> {
    const store = await openStore(`sqlite:${path.join(this.#folder, "data/sessions.sqlite")}`);
    const sessions = await openSessions({ store });
    const wrong: string[] = [];
    try {
      const opened = this.#asked.filter(({ channelId }) => channelId === this.#sandbox.general.id);
      for (const mention of opened) {
        const thread = this.#sandbox.findChannel(mention);
        if (!thread) {
          wrong.push(`no thread was opened on ${namesIn(mention.content).join(" ")}`);
          continue;
        }
        const session = await sessions.get(`discord:${mention.id}`, { maxBytes: Number.MAX_SAFE_INTEGER });
        wrong.push(
          ...(await judgeThread({
            thread: mention.id,
            asked: [mention, ...this.#asked.filter(({ channelId }) => channelId === mention.id)].map((message) => ({
              id: message.id,
              name: namesIn(message.content)[0] ?? "",
            })),
            shown: this.#botsIn(mention.id),
            events: session?.events,
          })),
        );
      }
      const stray = this.#botsIn(this.#sandbox.general.id);
      if (stray.length > 0) wrong.push(`said in the channel: ${stray.join(" | ")}`);
    } finally {
      await sessions.close();
      await store.close();
    }
    return wrong;
  }

  #start(): Life {
    this.#seen = 0;
    this.#lives += 1;
    this.#life = this.#plan.program.run(["start"], {
      cwd: this.#folder,
      env: {
        DISCORD_TOKEN: this.#sandbox.botToken,
        DISCORD_API_URL: this.#sandbox.api,
        MODEL: "openai-compatible:m",
        MODEL_BASE_URL: this.#provider?.url ?? "",
        SESSION_STORE: "sqlite:data/sessions.sqlite",
        LOG_LEVEL: "debug",
        LOG_FORMAT: "json",
      },
    });
    return this.#life;
  }

  /** What the next process dies of, and how long nobody is there afterwards. */
  #draw(): [Trigger, number] {
    const random = this.#random;
    const delay = random.chance(0.3) ? random.below(400) : 0;
    const at = random.pick(["time", "sent", "sent", "edited", "thread", "call", "call", "piece", "piece"] as const);
    return [{ at, count: at === "time" ? random.below(2_500) : 1 + random.below(at === "piece" ? 12 : 3) }, delay];
  }

  /** Somebody says something, to a process that hears it or to none that is there. */
  async #say(ready: Promise<boolean>): Promise<void> {
    const random = this.#random;
    const person = random.pick(this.#people);
    const [away, wait, where, opens] = [random.next(), random.below(800), random.next(), random.chance(0.35)];
    if (away >= this.#plan.awayShare) await ready;
    await pause(wait);
    const number = this.#asked.length + 1;
    const text = `${questionName(number)} What do you say?`;
    const mentions = this.#asked.filter(({ channelId }) => channelId === this.#sandbox.general.id);
    const threads = mentions.filter((mention) => this.#sandbox.findChannel(mention));
    const thread = threads[Math.floor(where * threads.length)];
    const message =
      !thread || (opens && mentions.length < this.#plan.threads)
        ? person.mentions(this.#sandbox.bot, text)
        : person.says({ id: thread.id }, text);
    this.#asked.push(message);
  }

  #notice(change: Change): void {
    if (change.type !== "traffic" && !change.type.startsWith("typing")) this.#lastChange = Date.now();
    if (change.type === "thread-created") this.#happens("thread");
    if (!("message" in change) || change.message.authorId !== this.#sandbox.bot.id) return;
    if (change.type === "message-created") this.#happens("sent");
    if (change.type === "message-edited") this.#happens("edited");
  }

  /** Called while the process waits for its answer, so that it dies before it hears of it. */
  #happens(what: Trigger["at"]): void {
    if (this.#trigger?.at !== what) return;
    this.#seen += 1;
    if (this.#seen === this.#trigger.count) this.#life?.kill("SIGKILL");
  }

  #isAnswered(): boolean {
    return this.#asked.every(({ id, channelId, content }) => {
      const [name = ""] = namesIn(content);
      return this.#botsIn(channelId === this.#sandbox.general.id ? id : channelId).some((text) => text.includes(name));
    });
  }

  #botsIn(channel: string): string[] {
    if (!this.#sandbox.findChannel({ id: channel })) return [];
    const messages = this.#sandbox.messages({ id: channel });
    return messages.filter(({ authorId }) => authorId === this.#sandbox.bot.id).map(({ content }) => content);
  }

  async #keepLog(life: Life): Promise<void> {
    await writeFile(path.join(this.#folder, "lives", `${this.#lives}.log`), life.output);
  }
}
