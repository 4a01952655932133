import { ThreadkeeperError } from "../../errors.ts";
import type { Store, Stored } from "./store.ts";
import type { ValueCipher } from "./value-cipher.ts";

/**
 * Where a store says that it is encrypted, and proves with which key without telling it. It stands there as it is, and
 * is the store's own: a slash keeps it apart from what may be named like a session.
 */
export const encryptionKey = "store/encryption";
const format = 1;
const proof = "threadkeeper";

/** Keys as a text each that only they can have made; `null`: none, values stand there as they are. */
export interface EncryptionRecord {
  readonly now: string | null;
  /** The store is being rewritten from `now` to this. */
  readonly next?: string | null;
}

export interface StoredEncryption {
  /** `undefined`: it says nothing, so that nothing in it is encrypted. */
  readonly record: EncryptionRecord | undefined;
  readonly version: string | undefined;
}

export function proofOf(cipher: ValueCipher | undefined): string | null {
  return cipher ? cipher.encrypt(encryptionKey, proof) : null;
}

export function proves(cipher: ValueCipher | undefined, made: string | null): boolean {
  return made === null ? cipher === undefined : cipher?.decrypt(encryptionKey, made) === proof;
}

export function formatEncryption(record: EncryptionRecord): string {
  return JSON.stringify({ format, ...record });
}

/** @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export async function readEncryption(store: Store): Promise<StoredEncryption> {
  const [stored] = await store.get([encryptionKey]);
  return { record: stored && parse(stored, store.description), version: stored?.version };
}

function parse({ value }: Stored, where: string): EncryptionRecord {
  let record: { format?: unknown; now?: unknown; next?: unknown } | null = null;
  try {
    record = JSON.parse(value ?? "null");
  } catch {
    // Said below.
  }
  if (typeof record?.format === "number" && record.format > format) {
    throw new ThreadkeeperError("STORE_FORMAT_NEWER", `${where} was encrypted by a newer program; update this one`);
  }
  const { now, next } = record ?? {};
  if (isProof(now) && (next === undefined || isProof(next))) return { now, ...(next !== undefined && { next }) };
  throw new ThreadkeeperError("STORE_CORRUPT", `${encryptionKey} in ${where} cannot be read: restore a backup of it`);
}

function isProof(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
