export interface BatchesOptions<Job, Result> {
  /** Which of those that wait make the next batch; never none. The others keep their order. */
  readonly choose: (waiting: readonly Job[]) => readonly Job[];
  /** Does them all at once; one result a job, in order. */
  readonly run: (batch: readonly Job[]) => Promise<readonly Result[]>;
  /** Whether a batch may have failed because of one of its jobs, so that each is worth a try of its own. */
  readonly mayBeOneJobs: (error: unknown) => boolean;
}

/** One batch in flight; what is added meanwhile shares the next one, and its cost. */
export class Batches<Job, Result> {
  readonly #options: BatchesOptions<Job, Result>;
  readonly #waiting = new Map<Job, { resolve: (result: Result) => void; reject: (error: unknown) => void }>();
  #pump: Promise<void> | undefined;

  constructor(options: BatchesOptions<Job, Result>) {
    this.#options = options;
  }

  /** Each `job` must be an object of its own. */
  add(job: Job): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(job, { resolve, reject });
      this.#pump ??= this.#run();
    });
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async idle(): Promise<void> {
    await this.#pump;
  }

  async #run(): Promise<void> {
    // What is added in one go shares the first batch already.
    await undefined;
    while (this.#waiting.size > 0) await this.#settle(this.#options.choose([...this.#waiting.keys()]));
    this.#pump = undefined;
  }

  async #settle(batch: readonly Job[]): Promise<void> {
    try {
      const results = await this.#options.run(batch);
      for (const [index, job] of batch.entries()) this.#leave(job)?.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && this.#options.mayBeOneJobs(error)) for (const job of batch) await this.#settle([job]);
      else for (const job of batch) this.#leave(job)?.reject(error);
    }
  }

  #leave(job: Job) {
    const waiting = this.#waiting.get(job);
    this.#waiting.delete(job);
    return waiting;
  }
}
