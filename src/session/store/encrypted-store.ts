import { type ErrorCode, ThreadkeeperError } from "../../errors.ts";
import { encryptionKey, formatEncryption, proofOf, proves, readEncryption } from "./encryption-record.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";
import { ValueCipher } from "./value-cipher.ts";

/**
 * The store as its key opens it: without a key as it is, with one so that all values are encrypted at rest (their names
 * are not). A store is encrypted from its first value on, or by `rekeyStore`; never by the way.
 * @param secret 32 bytes; `undefined`: none
 * @throws ThreadkeeperError `STORE_KEY_MISSING`, `STORE_KEY_WRONG`, `STORE_NOT_ENCRYPTED`, `STORE_CORRUPT`, `STORE_FORMAT_NEWER`
 */
export async function unlockStore(
  store: Store,
  secret: Uint8Array | undefined,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<Store> {
  const cipher = secret && new ValueCipher(secret);
  const { record } = await readEncryption(store);
  if (!record) {
    if (!cipher) return store;
    if (!(await isEmpty(store))) {
      throw refusal("STORE_NOT_ENCRYPTED", store, 'is not encrypted, and SESSION_KEY is set: run "threadkeeper rekey"');
    }
    if (readOnly) return new EncryptedStore(store, cipher);
    const put = new Map([[encryptionKey, formatEncryption({ now: proofOf(cipher) })]]);
    if (await store.commit({ key: encryptionKey, was: undefined, put })) return new EncryptedStore(store, cipher);
    return unlockStore(store, secret);
  }
  if (record.next !== undefined) {
    throw refusal("STORE_KEY_WRONG", store, 'is half way to another key: run "threadkeeper rekey" again, to its end');
  }
  if (!cipher) throw refusal("STORE_KEY_MISSING", store, "is encrypted: set SESSION_KEY to its key");
  if (proves(cipher, record.now)) return new EncryptedStore(store, cipher);
  throw refusal("STORE_KEY_WRONG", store, "is encrypted with another key than the one in SESSION_KEY");
}

/** The values of `store` as `cipher` reads and writes them. */
export class EncryptedStore implements Store {
  readonly #store: Store;
  readonly #cipher: ValueCipher;

  constructor(store: Store, cipher: ValueCipher) {
    this.#store = store;
    this.#cipher = cipher;
  }

  get description(): string {
    return `${this.#store.description} (encrypted)`;
  }

  async get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    const found = await this.#store.get(keys);
    return found.map(
      (stored, index) => stored && { version: stored.version, value: this.#read(keys[index] as string, stored.value) },
    );
  }

  commit(change: Commit): Promise<Committed | undefined> {
    const put = new Map(Array.from(change.put, ([key, value]) => [key, this.#write(key, value)]));
    return this.#store.commit({ ...change, put });
  }

  async keys(prefix: string, options: { readonly after?: string; readonly limit?: number } = {}): Promise<string[]> {
    const { limit = 1000 } = options;
    const keys = await this.#store.keys(prefix, { ...options, limit: limit + 1 });
    return keys.filter((key) => key !== encryptionKey).slice(0, limit);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #read(key: string, value: string | undefined): string | undefined {
    return value === undefined ? undefined : this.#cipher.decrypt(key, value);
  }

  /** What is no string is left to the store to refuse. */
  #write(key: string, value: string): string {
    return typeof value === "string" ? this.#cipher.encrypt(key, value) : value;
  }
}

/** What an opening left that was killed does not count. */
async function isEmpty(store: Store): Promise<boolean> {
  const keys = await store.keys("", { limit: 100 });
  return keys.every((key) => key.startsWith("probe/"));
}

function refusal(code: ErrorCode, store: Store, why: string): ThreadkeeperError {
  return new ThreadkeeperError(code, `${store.description} ${why}`);
}
