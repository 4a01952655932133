import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../../..");

/** The program as it is published, for processes that are started often: half the time of one from the source. */
export class BuiltProgram {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async build(): Promise<BuiltProgram> {
    const folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-built-"));
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const words = [tsc, "-p", path.join(root, "tsconfig.build.json"), "--declaration", "false"];
    await promisify(execFile)(process.execPath, [...words, "--outDir", path.join(folder, "dist")]);
    await cp(path.join(root, "package.json"), path.join(folder, "package.json"));
    await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    return new BuiltProgram(folder);
  }

  run(words: readonly string[], options: { readonly cwd: string; readonly env: Record<string, string> }): Life {
    const { PATH = "", HOME = "" } = process.env;
    const script = path.join(this.#folder, "dist/cli/threadkeeper.js");
    return new Life(
      spawn(process.execPath, [script, ...words], { cwd: options.cwd, env: { PATH, HOME, ...options.env } }),
    );
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** One process of it, from its start to its end. */
export class Life {
  readonly ended: Promise<unknown>;
  output = "";
  readonly #process: ChildProcess;

  constructor(child: ChildProcess) {
    this.#process = child;
    this.ended = once(child, "close");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        child.emit("output");
      });
    }
  }

  /** Whether it printed `text`; `false`: it ended before. */
  async prints(text: string): Promise<boolean> {
    while (!this.output.includes(text)) {
      const more = await Promise.race([once(this.#process, "output"), this.ended.then(() => undefined)]);
      if (!more) return this.output.includes(text);
    }
    return true;
  }

  get isOver(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.isOver) this.#process.kill(signal);
  }
}
