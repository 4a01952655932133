/**
 * Jobs with the same key run one after another, in the order in which they were added; others run side by side.
 * A lane that is empty leaves nothing behind.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before === undefined ? job() : before.then(job, job);
    this.#last.set(key, mine);
    const leave = () => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** Resolves when all lanes are empty. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
