import { ThreadkeeperError } from "../../src/errors.ts";
import type { Commit, Store } from "../../src/session/store/store.ts";

/** A store whose connection can be cut and mended: what one process sees of an outage, or others see of its end. */
export class CutStore implements Store {
  readonly #store: Store;
  isCut = false;
  /** Commits are made, but nobody can be told so. */
  isDeaf = false;
  /** What went through, by key or prefix. */
  readonly calls: string[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  get description(): string {
    return this.#store.description;
  }

  get(keys: readonly string[]) {
    return this.#call(`get ${keys}`, () => this.#store.get(keys));
  }

  commit(change: Commit) {
    return this.#call(`commit ${change.key}`, async () => {
      const done = await this.#store.commit(change);
      if (done && this.isDeaf) throw outage();
      return done;
    });
  }

  keys(prefix: string, options?: { readonly after?: string; readonly limit?: number }) {
    return this.#call(`keys ${prefix}`, () => this.#store.keys(prefix, options));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #call<T>(what: string, call: () => Promise<T>): Promise<T> {
    if (this.isCut) throw outage();
    this.calls.push(what);
    return call();
  }
}

function outage(): ThreadkeeperError {
  return new ThreadkeeperError("STORE_UNAVAILABLE", "the store went away");
}
