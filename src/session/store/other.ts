import type { Keyv, KeyvStoreAdapter } from "keyv";
import { ThreadkeeperError } from "../../errors.ts";
import { Lanes } from "../../lanes.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { checkCommit } from "./check-commit.ts";
import { defaultNamespace, keyvOf } from "./keyv-of.ts";
import { storedText } from "./keyv-text.ts";
import { probe } from "./probe.ts";
import { SortedKeys } from "./sorted-keys.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";

export interface KeyvStoreOptions {
  readonly log?: Logger;
  /** What Keyv puts before each key. Default: `keyv`. */
  readonly namespace?: string;
}

type Backing = KeyvStoreAdapter | Map<string, string>;

/** What all stores on one adapter have in common. Keyv's verbs are asynchronous: in one lane nobody sees half a commit. */
interface Shared {
  readonly lanes: Lanes;
  stores: number;
  /** `undefined`: not read yet, or in doubt since something failed. */
  keys: SortedKeys | undefined;
}

const sharedBy = new WeakMap<object, Shared>();

/**
 * Sessions in any Keyv storage adapter. Keyv has no commit of several keys under a condition, so that one is made of
 * single writes, in an order in which a crash between them does the least harm, and holds against others in this process
 * only: **no second process may use the same data**. The adapter must be for this store alone, and able to list its keys
 * (`iterator`).
 * @throws ThreadkeeperError `STORE_SETTING_INVALID` if it has no iterator, `STORE_UNAVAILABLE`
 */
export async function openKeyvStore(adapter: Backing, options: KeyvStoreOptions = {}): Promise<Store> {
  const { log = silentLogger } = options;
  const description = `Keyv adapter ${adapter.constructor.name}`;
  const store = new KeyvStore(adapter, description, options);
  try {
    await probe(store.keyv, store, (error) => store.failure(error));
  } catch (error) {
    await store.close();
    throw error;
  }
  log.warn(
    { store: description },
    "this adapter has no commit of several keys: no second process may use the same sessions, and a crash may leave a turn's last write in part",
  );
  return store;
}

export class KeyvStore implements Store {
  readonly description: string;
  readonly keyv: Keyv<string>;
  readonly #backing: Backing;
  readonly #prefix: string;
  readonly #shared: Shared;
  /** What the adapter told as an event instead of throwing it. */
  #reported: unknown;
  #closing: Promise<void> | undefined;

  constructor(backing: Backing, description: string, options: KeyvStoreOptions = {}) {
    const { log = silentLogger, namespace = defaultNamespace } = options;
    if (!keysIn(backing)) {
      throw new ThreadkeeperError(
        "STORE_SETTING_INVALID",
        `${description} cannot keep sessions: it has no iterator(), by which its keys could be listed`,
      );
    }
    this.description = description;
    this.#backing = backing;
    this.#prefix = `${namespace}:`;
    // Some adapters swallow what fails unless they are told not to.
    if ("throwOnErrors" in backing) backing.throwOnErrors = true;
    this.keyv = keyvOf(backing, { namespace, log });
    this.keyv.on("error", (error: unknown) => {
      this.#reported = error;
    });
    this.#shared = sharedBy.get(backing) ?? { lanes: new Lanes(), stores: 0, keys: undefined };
    this.#shared.stores += 1;
    sharedBy.set(backing, this.#shared);
  }

  get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    return this.#alone(() => Promise.all(keys.map((key) => this.#read(key))));
  }

  commit(change: Commit): Promise<Committed | undefined> {
    return this.#alone(async () => {
      checkCommit(change);
      const { key, was, put, remove = [] } = change;
      if ((await this.#read(key))?.version !== was) return undefined;
      // Of what stands under keys of its own nobody knows before the guard has moved, and after that nobody misses it.
      for (const each of put.keys()) if (each !== key) await this.#put(each, put.get(each) as string);
      if (put.has(key)) await this.#put(key, put.get(key) as string);
      else if (remove.includes(key)) await this.#remove(key);
      for (const each of remove) if (each !== key) await this.#remove(each);
      return { version: (await this.#read(key))?.version };
    });
  }

  keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    return this.#alone(async () => {
      const all = this.#shared.keys ?? (await this.#allKeys());
      // To go through a map costs little, and who made it may change it; an adapter may be far away.
      if (!(this.#backing instanceof Map)) this.#shared.keys = all;
      // No key has a character as high as the one that ends the range.
      return all.list({ from: prefix, after, end: `${prefix}\x7f`, limit });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  failure(error: unknown): ThreadkeeperError {
    if (error instanceof ThreadkeeperError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new ThreadkeeperError("STORE_UNAVAILABLE", `${this.description} failed: ${message}`, { cause: error });
  }

  async #end(): Promise<void> {
    await this.#shared.lanes.idle();
    this.#shared.stores -= 1;
    if (this.#shared.stores > 0 || this.#backing instanceof Map) return;
    await this.#backing.disconnect?.();
  }

  async #read(key: string): Promise<Stored | undefined> {
    const cell = await this.#strict(this.#backing.get(this.#prefix + key));
    if (cell === undefined || cell === null) return undefined;
    // An adapter may parse what it is given.
    return storedText(typeof cell === "string" ? cell : JSON.stringify(cell));
  }

  async #put(key: string, value: string): Promise<void> {
    const done = await this.#strict(this.keyv.set(key, value));
    if (!done) throw this.failure(`it did not write ${key}`);
    this.#shared.keys?.add(key);
  }

  async #remove(key: string): Promise<void> {
    await this.#strict(this.keyv.delete(key));
    this.#shared.keys?.delete(key);
  }

  async #allKeys(): Promise<SortedKeys> {
    const keys: string[] = [];
    for await (const key of keysIn(this.#backing)?.(this.#prefix.slice(0, -1)) ?? []) {
      if (key.startsWith(this.#prefix)) keys.push(key.slice(this.#prefix.length));
    }
    await this.#strict(undefined);
    return new SortedKeys(keys);
  }

  /** What was only reported has failed too: "cannot read" must not look like "does not exist". */
  async #strict<T>(answer: T | Promise<T>): Promise<T> {
    const result = await answer;
    if (this.#reported !== undefined) throw this.#reported;
    return result;
  }

  async #alone<T>(job: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", `${this.description} is closed`);
    return this.#shared.lanes.run("", async () => {
      this.#reported = undefined;
      try {
        return await job();
      } catch (error) {
        this.#shared.keys = undefined;
        throw this.failure(error);
      }
    });
  }
}

/** How to go through all keys of an adapter; `undefined`: it can't. */
function keysIn(backing: Backing): ((namespace: string) => Iterable<string> | AsyncIterable<string>) | undefined {
  if (backing instanceof Map) return () => backing.keys();
  if (typeof backing.iterator !== "function") return undefined;
  return async function* (namespace) {
    for await (const [key] of backing.iterator?.(namespace) ?? []) yield key as string;
  };
}
