import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ThreadkeeperError } from "../errors.ts";
import { type Channel, type Sandbox, startSandbox } from "../sandbox/sandbox.ts";
import { settled } from "./settled.ts";

/** How long the bot's process may take to be on Discord, in milliseconds. */
const readyWithinMs = 30_000;
const endsWithinMs = 30_000;

/** Plays a short conversation in which the bot's process is stopped and started again. Gives the exit code. */
export async function demo(): Promise<number> {
  const start = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-demo-"));
  const sandbox = await startSandbox();
  const stage = new Stage(sandbox, folder);
  try {
    await stage.play();
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(
      `\nThat was all, in ${seconds} seconds: a thread remembers across a restart, until somebody resets it.`,
    );
    console.log("Talk to it yourself: npm start");
  } finally {
    await stage.stopBot();
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

class Stage {
  readonly #sandbox: Sandbox;
  readonly #folder: string;
  readonly #shown = new Map<string, number>();
  #bot: ChildProcess | undefined;

  constructor(sandbox: Sandbox, folder: string) {
    this.#sandbox = sandbox;
    this.#folder = folder;
  }

  async play(): Promise<void> {
    const { bot, general, owner: ada } = this.#sandbox;
    console.log("A small Discord on this machine; the real bot, as a process of its own; the demo model, which only");
    console.log("quotes what it finds in the conversation. What follows is read from the channels.\n");
    await this.#startBot();

    const mention = ada.mentions(bot, "The deadline for Project Alpha is December 27.");
    await settled(this.#sandbox);
    this.#show("#general", general);
    const thread = this.#sandbox.channel(mention);
    ada.says(thread, "Grace brings the projector, and Ben books the room.");
    await this.#showThread(thread);

    await this.stopBot();
    console.log("\n--- the bot's process is stopped, and another one is started on the same file ---\n");
    await this.#startBot();
    ada.says(thread, "When is the deadline for Project Alpha?");
    await this.#showThread(thread);

    console.log("\n--- Ada runs /reset: the thread's session is forgotten ---\n");
    await ada.runs("/reset", { in: thread }).answer();
    ada.says(thread, "When is the deadline for Project Alpha?");
    await this.#showThread(thread);
  }

  async stopBot(): Promise<void> {
    const bot = this.#bot;
    this.#bot = undefined;
    if (!bot || bot.exitCode !== null || bot.signalCode !== null) return;
    const ended = once(bot, "exit");
    const late = setTimeout(() => bot.kill("SIGKILL"), endsWithinMs);
    bot.kill("SIGTERM");
    await ended;
    clearTimeout(late);
  }

  async #startBot(): Promise<void> {
    const program = process.argv[1] ?? "";
    const bot = spawn(process.execPath, [...process.execArgv, program, "start"], {
      env: {
        ...process.env,
        DISCORD_TOKEN: this.#sandbox.botToken,
        DISCORD_API_URL: this.#sandbox.api,
        MODEL: "demo",
        SESSION_STORE: `sqlite:${path.join(this.#folder, "sessions.sqlite")}`,
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#bot = bot;
    // A bot that says nothing is ended, which ends what it says.
    const late = setTimeout(() => bot.kill("SIGKILL"), readyWithinMs);
    let said = "";
    for await (const text of bot.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
      said += String(text);
      if (said.includes("is on Discord")) break;
    }
    clearTimeout(late);
    bot.stdout?.resume();
    if (!said.includes("is on Discord")) {
      throw new ThreadkeeperError("UNEXPECTED", `the bot's process did not get on the sandbox's Discord: ${said}`);
    }
  }

  async #showThread(thread: Channel): Promise<void> {
    await settled(this.#sandbox);
    const { name } = this.#sandbox.channel(thread.id) as Channel & { name: string };
    this.#show(`thread “${name}”`, thread);
  }

  /** What was said in a channel since it was last shown. */
  #show(title: string, channel: Channel): void {
    const messages = this.#sandbox.messages(channel);
    console.log(`${title}:`);
    for (const message of messages.slice(this.#shown.get(channel.id) ?? 0)) {
      console.log(this.#sandbox.messageText(message).replaceAll(/^/gm, "  "));
    }
    this.#shown.set(channel.id, messages.length);
  }
}
