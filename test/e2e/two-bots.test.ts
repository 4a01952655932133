import { describe, expect, it, onTestFinished } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { openStore } from "../../src/session/store/open-store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import type { StorePlace } from "../support/store-contract.ts";
import { postgresPlace, redisPlace, sqlitePlace } from "../support/store-places.ts";
import { postgresServer, redisServer } from "../support/test-servers.ts";
import { answeringModel } from "./support/answering-model.ts";
import { type AnsweringProvider, answeringProvider } from "./support/answering-provider.ts";
import { type HouseOptions, openHouse } from "./support/house.ts";
import { type Program, programFolder } from "./support/program.ts";
import { answerTo, asks, botMessages, botTexts, gate, opensThread } from "./support/talk.ts";

const folder = programFolder();
const patience = { timeoutMs: 40_000 };

/** The answer to "Question 7" has numbered lines, so that each can be found; every third fills two messages. */
function linesOf(question: string): string[] {
  const number = Number(question.match(/\d+/)?.[0]);
  const count = number % 3 === 0 ? 40 : 10;
  const filler = "as the two of them have always said, each in its own way.";
  return Array.from({ length: count }, (_, index) => `${number}.${index + 1}: ${filler}\n`);
}

/** A tenth of the lines at a time. */
function piecesOf(questions: readonly string[]): string[] {
  const lines = questions.flatMap(linesOf);
  const size = Math.ceil(lines.length / 10);
  return Array.from({ length: 10 }, (_, index) => lines.slice(index * size, (index + 1) * size).join(""));
}

interface Scene {
  readonly sandbox: Sandbox;
  readonly provider: AnsweringProvider;
  readonly thread: { readonly id: string };
  start(name: string): Promise<Program>;
  /** Says "Question n" in the thread. */
  asks(number: number): void;
  /** The bot that is in the midst of an answer, with so many tenths of it written. */
  atWork(tenths: number): Promise<string>;
  /** Resolves when this question's last line stands in the thread. */
  answered(number: number): Promise<void>;
}

/** Two bots with one token and one store, each a process of its own, and a thread in which one question was answered. */
async function openScene(makePlace: () => Promise<StorePlace>): Promise<Scene & { place: StorePlace }> {
  const place = await makePlace();
  const sandbox = await startSandbox({ keepToken: true });
  const provider = await answeringProvider(piecesOf, 120);
  onTestFinished(async () => {
    await sandbox.close();
    await place.remove();
  });
  const scene = {
    place,
    sandbox,
    provider,
    thread: { id: "" },
    async start(name: string) {
      const program = folder.run(["start"], {
        DISCORD_TOKEN: sandbox.botToken,
        DISCORD_API_URL: sandbox.api,
        MODEL: "openai-compatible:m",
        MODEL_BASE_URL: provider.baseUrl(name),
        SESSION_STORE: place.setting as string,
        TAKE_OVER_SECONDS: "2",
        LOG_FORMAT: "json",
      });
      await program.prints("is on Discord");
      return program;
    },
    asks(number: number) {
      sandbox.owner.says(scene.thread, `Question ${number}`);
    },
    async atWork(tenths: number) {
      const find = () => provider.calls.find(({ over, written }) => !over && written >= tenths);
      await expect.poll(find, { timeout: 40_000, interval: 10 }).toBeDefined();
      return find()?.from as string;
    },
    async answered(number: number) {
      const last = linesOf(`Question ${number}`).at(-1)?.trim() as string;
      await sandbox.until(() => said(scene).includes(last), patience);
    },
  };
  await scene.start("one");
  const mention = sandbox.owner.mentions(sandbox.bot, "Question 1");
  scene.thread = { id: mention.id };
  await sandbox.until(() => sandbox.findChannel(scene.thread), patience);
  await scene.answered(1);
  return scene;
}

function said({ sandbox, thread }: Scene): string {
  return botMessages(sandbox, thread)
    .map(({ content }) => content)
    .join("\n");
}

/** Every question is stored once, answered by one turn, in order; each line of each answer stands in the thread once. */
async function expectWhole(scene: Scene & { place: StorePlace }, questions: number): Promise<void> {
  const asked = Array.from({ length: questions }, (_, index) => `Question ${index + 1}`);
  const numbers = (text: string) => text.match(/\d+\.\d+:/g) ?? [];
  expect(numbers(said(scene))).toEqual(numbers(asked.flatMap(linesOf).join("")));

  const store = await openStore(scene.place.setting as string);
  const sessions = await openSessions({ store });
  const { events = [] } = (await sessions.get(`discord:${scene.thread.id}`, { maxBytes: 10_000_000 })) ?? {};
  const turns = [...new Set(events.map(({ turn }) => turn))].map((id) => events.filter(({ turn }) => turn === id));
  const covered = turns.map((turn) => ({
    asked: turn.filter(({ message }) => message.role === "user").map(({ message }) => message.content),
    answers: turn.filter(({ message }) => message.role === "assistant").map(({ message }) => textOf(message.content)),
  }));
  expect(covered.flatMap(({ asked }) => asked)).toEqual(asked);
  for (const turn of covered) {
    expect(turn.answers.map(numbers)).toEqual([numbers((turn.asked as string[]).flatMap(linesOf).join(""))]);
  }
  expect(await sessions.unfinished()).toEqual([]);
  await sessions.close();
  await store.close();
}

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : (content as { text?: string }[]).map(({ text }) => text ?? "").join("");
}

const kinds = [
  { kind: "SQLite", makePlace: sqlitePlace as () => Promise<StorePlace>, missing: undefined },
  { kind: "PostgreSQL", makePlace: postgresPlace, missing: postgresServer.missing },
  { kind: "Redis", makePlace: redisPlace, missing: redisServer.missing },
];

describe.each(kinds)("Two bots with one token on one $kind store", ({ kind, makePlace, missing }) => {
  it.skipIf(missing)("answer every message once, in order, though one is killed in an answer", async () => {
    const scene = await openScene(makePlace);
    const bots: Record<string, Program> = { one: folder.last(), two: await scene.start("two") };
    scene.asks(2);
    scene.asks(3);
    const killed = await scene.atWork(5);
    await bots[killed]?.kill("SIGKILL");
    scene.asks(4);
    await scene.answered(4);
    scene.asks(5);
    await scene.answered(5);
    await bots[killed === "one" ? "two" : "one"]?.kill("SIGTERM");
    await expectWhole(scene, 5);
  });

  it.skipIf(kind !== "SQLite")("answer every message once, in order, though one is stopped in an answer", async () => {
    const scene = await openScene(makePlace);
    const bots: Record<string, Program> = { one: folder.last(), two: await scene.start("two") };
    scene.asks(2);
    scene.asks(3);
    const stopped = await scene.atWork(2);
    const ended = bots[stopped]?.kill("SIGTERM");
    scene.asks(4);
    expect(await ended).toBe(0);
    scene.asks(5);
    await scene.answered(5);
    await bots[stopped === "one" ? "two" : "one"]?.kill("SIGTERM");
    await expectWhole(scene, 5);
  });

  it.skipIf(kind !== "SQLite")(
    "one that slept through its take-over draws and stores nothing of what the other has",
    async () => {
      const scene = await openScene(makePlace);
      const bots: Record<string, Program> = { one: folder.last(), two: await scene.start("two") };
      scene.asks(3);
      const asleep = await scene.atWork(4);
      bots[asleep]?.process.kill("SIGSTOP");
      await scene.answered(3);
      const finished = said(scene);
      bots[asleep]?.process.kill("SIGCONT");
      await bots[asleep]?.prints("others may take over");
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(said(scene)).toBe(finished);
      // It works on: alone, too.
      await bots[asleep === "one" ? "two" : "one"]?.kill("SIGTERM");
      scene.asks(4);
      await scene.answered(4);
      await bots[asleep]?.kill("SIGTERM");
      const wanted = [1, 3, 4].flatMap((number) => linesOf(`Question ${number}`)).join("");
      expect(said(scene).match(/\d+\.\d+:/g)).toEqual(wanted.match(/\d+\.\d+:/g));
    },
  );
});

describe("What both of two bots hear", () => {
  async function twoHouses(options: Partial<HouseOptions> = {}) {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const house = await openHouse({ model, ...options });
    const bots = [await house.start(), await house.start()];
    return { ...house, model, quiet: () => Promise.all(bots.map((bot) => bot.quiet())) };
  }

  it("is answered by one of them", async () => {
    const { sandbox, model, quiet } = await twoHouses();
    const thread = await opensThread(sandbox, sandbox.owner, "0");
    for (const text of ["1", "2", "3"]) await asks(sandbox, sandbox.owner, thread, text);
    await quiet();
    expect(botTexts(sandbox, thread)).toEqual(["heard: 0", "heard: 1", "heard: 2", "heard: 3"]);
    expect(model.shown.map(({ questions }) => questions)).toEqual([["0"], ["1"], ["2"], ["3"]]);
  });

  it("and is only a call is greeted once", async () => {
    const { sandbox, quiet } = await twoHouses();
    const mention = sandbox.owner.mentions(sandbox.bot, "");
    await answerTo(sandbox, mention, 0);
    await quiet();
    expect(botTexts(sandbox, mention)).toEqual([expect.stringContaining("said nothing")]);
  });

  it("and cannot be answered for lack of a permission is complained of once", async () => {
    const { sandbox, quiet, logged } = await twoHouses();
    sandbox.faults.takeAway("CreatePublicThreads");
    sandbox.owner.mentions(sandbox.bot, "hello");
    const complaints = () => logged.filter(({ code }) => code === "DISCORD_PERMISSION_MISSING");
    await expect.poll(() => complaints().length).toBe(2);
    await answerTo(sandbox, "general", 0);
    await quiet();
    expect(botTexts(sandbox, "general")).toHaveLength(1);
  });

  it("and finds the queue full is refused once", async () => {
    const held = gate();
    const model = answeringModel(async ({ questions }) => {
      await held.opened;
      return `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, quiet, logged } = await twoHouses({ model, sessions: { maxWaiting: 1 } });
    const thread = sandbox.owner.mentions(sandbox.bot, "0");
    await expect.poll(() => model.shown.length).toBe(1);
    sandbox.owner.says(thread, "1");
    sandbox.owner.says(thread, "2");
    await expect.poll(() => logged.filter(({ code }) => code === "QUEUE_FULL").length).toBe(2);
    await answerTo(sandbox, thread, 0);
    held.open();
    await quiet();
    const refusals = botTexts(sandbox, thread).filter((text) => !text.startsWith("heard"));
    expect(refusals).toHaveLength(1);
  });

  it("and is a command is done by one of them, and the other says nothing of it", async () => {
    const { sandbox, quiet, logged } = await twoHouses();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const answer = await sandbox.owner.runs("/reset", { in: thread }).answer();
    expect(answer.content).toContain("Forgotten");
    await asks(sandbox, sandbox.owner, thread, "still there?");
    await quiet();
    expect(botTexts(sandbox, thread)).toHaveLength(3);
    expect(logged.filter(({ level }) => (level as number) > 30)).toEqual([]);
  });
});
