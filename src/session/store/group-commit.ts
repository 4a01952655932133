import { hasCode } from "../../errors.ts";
import type { Commit } from "./store.ts";

const maxJobs = 64;
const maxCharacters = 8_000_000;

interface Job {
  readonly change: Commit;
  readonly keys: readonly string[];
  readonly characters: number;
  readonly resolve: (won: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes several commits at once, each whole or not at all, and says for each whether its guard held. */
export type WriteBatch = (changes: readonly Commit[]) => Promise<readonly boolean[]>;

/**
 * One write in flight; what is added meanwhile shares the next one, and its one sync of the disk.
 *
 * No key stands twice in a batch, neither as a guard nor as a row: the commits of a batch cannot see each other.
 */
export class GroupCommit {
  readonly #write: WriteBatch;
  #queue: Job[] = [];
  #pump: Promise<void> | undefined;

  constructor(write: WriteBatch) {
    this.#write = write;
  }

  add(change: Commit): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const keys = [change.key, ...change.put.keys(), ...(change.remove ?? [])];
      let characters = 0;
      for (const [key, value] of change.put) characters += key.length + value.length;
      this.#queue.push({ change, keys, characters, resolve, reject });
      this.#pump ??= this.#run();
    });
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    await this.#pump;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) await this.#settle(this.#nextBatch());
    this.#pump = undefined;
  }

  #nextBatch(): Job[] {
    const batch: Job[] = [];
    const left: Job[] = [];
    const keys = new Set<string>();
    let characters = 0;
    for (const job of this.#queue) {
      const fits = batch.length < maxJobs && (batch.length === 0 || characters + job.characters <= maxCharacters);
      if (fits && !job.keys.some((key) => keys.has(key))) {
        batch.push(job);
        for (const key of job.keys) keys.add(key);
        characters += job.characters;
      } else {
        left.push(job);
      }
    }
    this.#queue = left;
    return batch;
  }

  async #settle(batch: readonly Job[]): Promise<void> {
    try {
      const won = await this.#write(batch.map((job) => job.change));
      for (const [index, job] of batch.entries()) job.resolve(won[index] === true);
    } catch (error) {
      // A value that cannot be stored is its own commit's fault only; a store that cannot write is everybody's.
      if (batch.length > 1 && hasCode(error, "UNEXPECTED")) for (const job of batch) await this.#settle([job]);
      else for (const job of batch) job.reject(error);
    }
  }
}
