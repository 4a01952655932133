import type { Logger } from "../log.ts";
import { within } from "../within.ts";

/** Keeps account of what goes on, so that an end can wait for it. Nothing that fails takes anything along. */
export class Streams {
  readonly #going = new Set<Promise<void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  follow(stream: Promise<void>, what = "an answer broke off"): void {
    const safe = stream.catch((error: unknown) => this.#log.error({ err: error }, what));
    this.#going.add(safe);
    void safe.finally(() => this.#going.delete(safe));
  }

  /** Resolves when nothing goes on. */
  async idle(): Promise<void> {
    while (this.#going.size > 0) await Promise.all(this.#going);
  }

  /** Waits for what goes on now, but no longer than so many milliseconds. */
  async settle(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all(this.#going));
  }
}
