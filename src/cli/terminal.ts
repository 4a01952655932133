import { createInterface, type Interface } from "node:readline/promises";
import type { Actor, Channel, Sandbox } from "../sandbox/sandbox.ts";
import { ChannelReader } from "./channel-reader.ts";
import { settled } from "./settled.ts";

const help = `What you type is said in the channel that the prompt shows; @Name mentions somebody; /reset, /undo, /fork, /stop and /help are the bot's.
  :general      go to #general          :threads      list the threads
  :thread N     go to thread N          :as NAME      be somebody else
  :help         this                    :quit         leave (Ctrl-D too)`;

/** A member of the sandbox at the keyboard: what is typed is said, and the channel is read out as it goes on. */
export class Terminal {
  readonly #sandbox: Sandbox;
  readonly #idle: () => Promise<void>;
  readonly #terminal: Interface;
  readonly #reader: ChannelReader;
  readonly #stop: () => void;
  readonly #commands: Readonly<Record<string, (rest: string) => void>> = {
    help: () => this.#print(help),
    general: () => this.#goTo(this.#sandbox.general, 8),
    threads: () => this.#print(this.#threadList()),
    thread: (rest) => {
      const thread = this.#sandbox.threads()[Number(rest) - 1];
      if (thread) this.#goTo(thread, 8);
      else this.#print(this.#threadList());
    },
    as: (rest) => {
      if (rest === "") this.#print("say who: as in :as Ben");
      else if (rest === this.#sandbox.bot.name) this.#print("that is the bot: it speaks for itself");
      else this.#me = this.#sandbox.member(rest);
    },
  };
  #me: Actor;
  #here: Channel;
  #left = false;
  /** Reading out what was said before. */
  #reads = false;

  /** @param idle resolves when the bot has nothing more to say */
  constructor(sandbox: Sandbox, idle: () => Promise<void>) {
    this.#sandbox = sandbox;
    this.#idle = idle;
    this.#me = sandbox.owner;
    this.#here = sandbox.general;
    // The prompt makes sense only for somebody who reads it while typing.
    this.#terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: process.stdin.isTTY });
    this.#terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
    this.#reader = new ChannelReader(sandbox, this.#here.id, (text, { authorId }) => {
      // What was typed here stands in the terminal already.
      if (!process.stdin.isTTY || authorId !== this.#me.id || this.#reads) this.#print(text);
    });
    this.#stop = sandbox.onChange((change) => {
      const parent = change.type === "thread-created" ? change.thread.parentId : undefined;
      if (change.type === "thread-created" && parent === this.#here.id && this.#saidByMe(change.thread.id)) {
        this.#print(`→ a thread is opened on it: “${change.thread.name}”. What you type now goes there.`);
        this.#goTo(change.thread);
      }
    });
  }

  /** Reads lines until there are no more. Without a terminal (a pipe), one is answered before the next is read. */
  async run(stopped: Promise<unknown>): Promise<void> {
    const newest = this.#sandbox.threads().at(-1);
    if (newest) {
      this.#print(`You were here before. This is thread “${newest.name}”:`);
      this.#goTo(newest, 8);
    }
    const isTerminal = process.stdin.isTTY;
    let lines = 0;
    this.#prompt();
    for await (const line of this.#terminal) {
      lines++;
      if (line.trim() === ":quit") return;
      this.#try(line.trim());
      if (!isTerminal) await this.#answered();
      this.#prompt();
    }
    // Started without anybody at the keyboard (a service, a test): it runs until it is stopped.
    if (!isTerminal && lines === 0) await stopped;
  }

  async #answered(): Promise<void> {
    // Until what was said has reached the bot; then the bot itself knows best.
    await settled(this.#sandbox, { quietMs: 500 });
    await this.#idle();
    this.#reader.flush();
  }

  /** Nothing more is typed; what is said is still read out. */
  leave(): void {
    this.#left = true;
    this.#stop();
    this.#terminal.close();
    if (process.stdin.isTTY) process.stdout.write("\n");
  }

  close(): void {
    this.#reader.close();
  }

  #try(line: string): void {
    try {
      if (line.startsWith(":")) this.#command(line);
      else if (line.startsWith("/")) this.#slash(line);
      else if (line !== "") this.#say(line);
    } catch (error) {
      this.#print(`(that was refused: ${(error as Error).message})`);
    }
  }

  #say(line: string): void {
    this.#me.says(this.#here, line);
    const isHeard = "parentId" in this.#here || line.includes(`@${this.#sandbox.bot.name}`);
    if (!isHeard) this.#print(`(in a channel the bot answers when it is mentioned: @${this.#sandbox.bot.name} …)`);
  }

  #slash(line: string): void {
    const running = this.#me.runs(line, { in: this.#here });
    running.answer().catch((error: unknown) => this.#print(`(${(error as Error).message})`));
  }

  #command(line: string): void {
    const [, name = "", rest = ""] = /^:(\S*)\s*(.*)$/.exec(line) ?? [];
    const command = Object.hasOwn(this.#commands, name) ? this.#commands[name] : undefined;
    if (command) command(rest);
    else this.#print(`there is no :${name}\n${help}`);
  }

  #threadList(): string {
    const list = this.#sandbox.threads().map((thread, index) => `  ${index + 1}  ${thread.name}`);
    return list.length > 0
      ? `:thread N goes to one of these\n${list.join("\n")}`
      : "there is no thread yet: mention the bot in #general";
  }

  #saidByMe(messageId: string): boolean {
    return this.#sandbox.messages(this.#here).some(({ id, authorId }) => id === messageId && authorId === this.#me.id);
  }

  #goTo(channel: Channel, last = 0): void {
    this.#here = channel;
    this.#reads = last > 0;
    this.#reader.turnTo(channel.id, last);
    this.#reads = false;
  }

  #prompt(): void {
    if (!process.stdin.isTTY || this.#left) return;
    const place = "parentId" in this.#here ? `“${shortened(this.#here.name)}”` : "#general";
    this.#terminal.setPrompt(`${this.#me.name} in ${place}> `);
    this.#terminal.prompt(true);
  }

  /** Above the line that is being typed. */
  #print(text: string): void {
    if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
    process.stdout.write(`${text}\n`);
    this.#prompt();
  }
}

function shortened(name: string): string {
  const letters = Array.from(name);
  return letters.length <= 24 ? name : `${letters.slice(0, 23).join("").trimEnd()}…`;
}
