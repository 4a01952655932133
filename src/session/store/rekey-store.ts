import { setTimeout as pause } from "node:timers/promises";
import { type ErrorCode, ThreadkeeperError } from "../../errors.ts";
import { Owners } from "../ownership/owners.ts";
import { ownerPrefix } from "../session-record.ts";
import { EncryptedStore } from "./encrypted-store.ts";
import {
  type EncryptionRecord,
  encryptionKey,
  formatEncryption,
  proofOf,
  proves,
  readEncryption,
} from "./encryption-record.ts";
import { keyPages } from "./key-pages.ts";
import type { Store } from "./store.ts";
import { isEncrypted, ValueCipher } from "./value-cipher.ts";

export interface Rekeying {
  /** The store as it stands on its disk, not as a key opens it. */
  readonly store: Store;
  /** The key that it has, 32 bytes; `undefined`: none. */
  readonly from: Uint8Array | undefined;
  /** The key that it gets; `undefined`: none, it stands there as it is afterwards. */
  readonly to: Uint8Array | undefined;
  /** For how long a process may give no sign of life before it counts as gone, in milliseconds. */
  readonly takeOverMs: number;
  /** Told of each page of keys that was gone through. */
  readonly onProgress?: (done: number) => void;
}

export interface Rekeyed {
  /** Values that were written anew; 0 and no `unreadable`: there was nothing to do. */
  readonly rewritten: number;
  /** Keys of values that neither key can read. They were left as they are. */
  readonly unreadable: readonly string[];
}

/**
 * Rewrites a whole store from one key to another, each value by a commit of its own, so that it can be killed at any
 * moment and begun again with the same keys. Meanwhile nobody else can open it, and it refuses while a process works on
 * it. Nothing of what stood there before is left in a SQLite file.
 * @throws ThreadkeeperError `STORE_BUSY`, `STORE_KEY_MISSING`, `STORE_KEY_WRONG` and what the store throws
 */
export async function rekeyStore(rekeying: Rekeying): Promise<Rekeyed> {
  const { store } = rekeying;
  const from = rekeying.from && new ValueCipher(rekeying.from);
  const to = rekeying.to && new ValueCipher(rekeying.to);
  const { record, version } = await readEncryption(store);
  if (record && record.next === undefined && proves(to, record.now)) return { rewritten: 0, unreadable: [] };
  if (!record && !to) return { rewritten: 0, unreadable: [] };
  const old = record?.now == null ? undefined : from;
  checkKeys(store, record, old, to);

  const begun = await mark(store, { now: proofOf(old), next: proofOf(to) }, version);
  try {
    await checkAlone(rekeying, old);
  } catch (error) {
    // As it was, unless somebody had begun before us.
    if (record?.next === undefined) await mark(store, record, begun);
    throw error;
  }
  const rekeyed = await rewriteAll(rekeying, old, to);
  await checkAlone(rekeying, to);
  await mark(store, to && { now: proofOf(to) }, begun);
  return rekeyed;
}

function checkKeys(store: Store, record: EncryptionRecord | undefined, old?: ValueCipher, to?: ValueCipher): void {
  if (record && !proves(old, record.now)) {
    if (!old) throw refusal("STORE_KEY_MISSING", store, "is encrypted: set SESSION_KEY_OLD to the key that it has");
    throw refusal("STORE_KEY_WRONG", store, "is encrypted with another key than the one in SESSION_KEY_OLD");
  }
  if (record?.next !== undefined && !proves(to, record.next)) {
    throw refusal("STORE_KEY_WRONG", store, "is half way to another key than the one in SESSION_KEY: end that first");
  }
}

/** Gives the record's new version. Whoever opens the store reads it first. */
async function mark(store: Store, record: EncryptionRecord | undefined, was: string | undefined) {
  const put = new Map(record ? [[encryptionKey, formatEncryption(record)]] : []);
  const remove = record ? [] : [encryptionKey];
  const done = await store.commit({ key: encryptionKey, was, put, remove, forget: true });
  if (done) return done.version;
  throw refusal("STORE_BUSY", store, "is being rewritten by another process: wait for it");
}

/** @throws ThreadkeeperError `STORE_BUSY` if a process gives a sign of life */
async function checkAlone({ store, takeOverMs }: Rekeying, cipher: ValueCipher | undefined): Promise<void> {
  const view = cipher ? new EncryptedStore(store, cipher) : store;
  const owners = new Owners({ store: view, takeOverMs });
  const first = new Map<string, string | undefined>();
  for (;;) {
    // One that died on this machine is gone at once.
    await owners.look();
    const keys = await view.keys(ownerPrefix);
    if (keys.length === 0) return;
    for (const [index, stored] of (await view.get(keys)).entries()) {
      const key = keys[index] as string;
      if (!first.has(key)) first.set(key, stored?.version);
      else if (stored && first.get(key) !== stored.version) {
        throw refusal("STORE_BUSY", store, "is in use: stop the bot that works on it, and try again");
      }
    }
    await pause(Math.min(1000, takeOverMs / 8));
  }
}

async function rewriteAll({ store, onProgress }: Rekeying, from?: ValueCipher, to?: ValueCipher): Promise<Rekeyed> {
  const unreadable: string[] = [];
  let rewritten = 0;
  let done = 0;
  for await (const keys of keyPages(store, "")) {
    const found = await store.get(keys);
    const commits = keys.map(async (key, index) => {
      const stored = found[index];
      if (!stored || key === encryptionKey) return;
      const value = stored.value === undefined ? "unreadable" : rewrite(key, stored.value, from, to);
      if (value === "unreadable") unreadable.push(key);
      else if (value !== "done") {
        const moved = await store.commit({ key, was: stored.version, put: new Map([[key, value.text]]) });
        if (!moved) throw refusal("STORE_BUSY", store, "is in use: stop the bot that works on it, and begin again");
        rewritten += 1;
      }
    });
    // All of a page have an end before an error goes on.
    for (const each of await Promise.allSettled(commits)) if (each.status === "rejected") throw each.reason;
    done += keys.length;
    onProgress?.(done);
  }
  return { rewritten, unreadable: unreadable.sort() };
}

/** What is to stand there instead. A kill may have left some of either kind. */
function rewrite(key: string, value: string, from?: ValueCipher, to?: ValueCipher) {
  if (to?.decrypt(key, value) !== undefined) return "done";
  if (!isEncrypted(value)) {
    if (!to) return "done";
    // Between two keys nothing is plain.
    return from ? "unreadable" : { text: to.encrypt(key, value) };
  }
  const text = from?.decrypt(key, value);
  if (text === undefined) return "unreadable";
  return { text: to ? to.encrypt(key, text) : text };
}

function refusal(code: ErrorCode, store: Store, why: string): ThreadkeeperError {
  return new ThreadkeeperError(code, `${store.description} ${why}`);
}
