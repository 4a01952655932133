import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");
const tsx = fileURLToPath(import.meta.resolve("tsx"));

/** The program as a process of its own, run from its source. */
export class Program {
  readonly process: ChildProcess;
  output = "";
  readonly #ended: Promise<unknown>;

  constructor(words: readonly string[], options: { folder: string; env?: Record<string, string>; by?: string[] }) {
    const { PATH = "", HOME = "" } = process.env;
    const node = [process.execPath, "--import", `file://${tsx}`, path.join(root, "src/cli/threadkeeper.ts"), ...words];
    const [command = "", ...rest] = [...(options.by ?? []), ...node];
    this.process = spawn(command, rest, { cwd: options.folder, env: { PATH, HOME, ...options.env } });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        this.process.emit("output");
      });
    }
    this.#ended = once(this.process, "close");
  }

  /** Resolves when the program has printed `text`. */
  async prints(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      const more = await Promise.race([once(this.process, "output"), this.#ended.then(() => undefined)]);
      if (!more && !this.output.includes(text)) throw new Error(`it ended without printing "${text}":\n${this.output}`);
    }
  }

  says(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  /** No more lines; resolves with the exit code (or the signal's name). */
  async ends(): Promise<number | NodeJS.Signals | null> {
    this.process.stdin?.end();
    await this.#ended;
    return this.process.exitCode ?? this.process.signalCode;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    await this.#ended;
    return this.process.exitCode ?? this.process.signalCode;
  }
}

/** An empty folder for each test, and programs in it that end with the test. */
export function programFolder() {
  const programs: Program[] = [];
  const place = {
    folder: "",
    /** @param by a command that is given the program's command, to start it */
    run(words: readonly string[], env: Record<string, string> = {}, by: string[] = []): Program {
      const program = new Program(words, { folder: place.folder, env, by });
      programs.push(program);
      return program;
    },
    /** The one that was started last. */
    last(): Program {
      return programs.at(-1) as Program;
    },
  };
  beforeEach(async () => {
    place.folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-program-"));
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) await program.kill();
    await rm(place.folder, { recursive: true, force: true });
  });
  return place;
}
