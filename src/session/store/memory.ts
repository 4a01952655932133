import { Keyv } from "keyv";
import { ThreadkeeperError } from "../../errors.ts";
import { Lanes } from "../lanes.ts";
import { checkCommit } from "./check-commit.ts";
import { keyvText } from "./keyv-text.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";

const namespace = "keyv";

/** Keyv's verbs are asynchronous: behind one lane for each map nobody sees half a commit. */
const lanesOf = new WeakMap<Map<string, string>, Lanes>();

/**
 * Sessions in a Keyv on a `Map`: gone when the process ends. For tests and for trying things out.
 * Stores on the same `map` are like two connections to one database.
 */
export function openMemoryStore(map = new Map<string, string>()): Store {
  return new MemoryStore(map);
}

class MemoryStore implements Store {
  readonly description = "memory (not durable: gone when the process ends)";
  readonly #map: Map<string, string>;
  readonly #keyv: Keyv<string>;
  readonly #lanes: Lanes;
  #closed = false;

  constructor(map: Map<string, string>) {
    this.#map = map;
    this.#lanes = lanesOf.get(map) ?? new Lanes();
    lanesOf.set(map, this.#lanes);
    this.#keyv = new Keyv<string>({
      store: map,
      namespace,
      throwOnErrors: true,
      serialize: (data) => keyvText.serialize(data as { value: string }),
      deserialize: (text) => keyvText.deserialize(text) as never,
    });
  }

  get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    return this.#alone(() => Promise.all(keys.map((key) => this.#read(key))));
  }

  commit(change: Commit): Promise<Committed | undefined> {
    return this.#alone(async () => {
      checkCommit(change);
      if ((await this.#read(change.key))?.version !== change.was) return undefined;
      for (const [key, value] of change.put) await this.#keyv.set(key, value);
      for (const key of change.remove ?? []) await this.#keyv.delete(key);
      return { version: this.#map.get(`${namespace}:${change.key}`) };
    });
  }

  keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    return this.#alone(async () =>
      Array.from(this.#map.keys(), (key) => key.slice(namespace.length + 1))
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort()
        .slice(0, limit),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#lanes.idle();
  }

  async #read(key: string): Promise<Stored | undefined> {
    const version = this.#map.get(`${namespace}:${key}`);
    if (version === undefined) return undefined;
    // What cannot be read is a fault of that value, not of the store.
    const value = await this.#keyv.get(key).catch(() => undefined);
    return { value, version };
  }

  async #alone<T>(job: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ThreadkeeperError("STORE_CLOSED", `the store in ${this.description} is closed`);
    return this.#lanes.run("", job);
  }
}
