import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Done, Order } from "./way-process.ts";
import type { WayId } from "./ways/all.ts";

/** A way of keeping sessions that is measured in a process of its own. */
export class MeasuredProcess {
  readonly #process: ChildProcess;

  private constructor() {
    // What is measured is what is published: compiled, without what tsx adds to each function.
    this.#process = fork(path.join(import.meta.dirname, "way-process.js"));
  }

  static async start(way: WayId, file: string): Promise<MeasuredProcess> {
    const started = new MeasuredProcess();
    await started.ask({ do: "open", way, file });
    return started;
  }

  async ask(order: Order): Promise<Done> {
    const over = new AbortController();
    const answer = once(this.#process, "message", over);
    const end = once(this.#process, "exit", over).then(() => {
      throw new Error("a measured process ended by itself");
    });
    this.#process.send(order);
    const [done] = (await Promise.race([answer, end]).finally(() => over.abort())) as [Done];
    if (done.error !== undefined) throw new Error(done.error);
    return done;
  }

  async end(): Promise<void> {
    await this.ask({ do: "close" });
    const exit = once(this.#process, "exit");
    this.#process.disconnect();
    await exit;
  }
}
