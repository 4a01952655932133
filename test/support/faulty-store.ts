import { ThreadkeeperError } from "../../src/errors.ts";
import type { Commit, Store } from "../../src/session/store/store.ts";

/** A store whose calls can be made to fail: before they do anything, or after they did it and could not say so. */
export class FaultyStore implements Store {
  readonly #store: Store;
  /** The number of the call that fails, from 1; none by default. */
  failAt = Number.POSITIVE_INFINITY;
  failAfterwards = false;
  calls = 0;
  /** The commits that were made. */
  commits: Commit[] = [];
  /** The keys of each `get`. */
  reads: (readonly string[])[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  get description(): string {
    return this.#store.description;
  }

  get(keys: readonly string[]) {
    this.reads.push(keys);
    return this.#call(() => this.#store.get(keys));
  }

  commit(change: Commit) {
    return this.#call(async () => {
      const won = await this.#store.commit(change);
      if (won) this.commits.push(change);
      return won;
    });
  }

  keys(prefix: string, options?: { readonly after?: string; readonly limit?: number }) {
    return this.#call(() => this.#store.keys(prefix, options));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    const fails = ++this.calls === this.failAt;
    if (fails && !this.failAfterwards) throw outage();
    const result = await call();
    if (fails) throw outage();
    return result;
  }
}

function outage(): ThreadkeeperError {
  return new ThreadkeeperError("STORE_UNAVAILABLE", "the store went away");
}
