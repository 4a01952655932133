import { toThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import type { JsonObject } from "../plain-json.ts";
import { ownerKey, ownerPrefix, parseOwnerKey, parseRecord } from "../session-record.ts";
import type { Store, Stored } from "../store/store.ts";
import { isDead, thisProcess } from "./owner-record.ts";

export interface OwnersOptions {
  readonly store: Store;
  /** For how long an owner's record may stay the same that does not tell, in milliseconds of this process's own clock. */
  readonly takeOverMs: number;
  readonly log?: Logger;
}

/** The record of an owner as it was first seen. */
interface Sight {
  readonly version: string;
  readonly since: number;
}

/**
 * The processes that work on a store, as one of them sees the others. Each has one key, which it beats. An absent key
 * means that its owner is gone: goodbye removes it, and whoever sees that a process of this machine died, or that its
 * record has not moved for the take-over time.
 */
export class Owners {
  readonly #store: Store;
  readonly #takeOverMs: number;
  readonly #log: Logger;
  readonly #seen = new Map<string, Sight>();
  /** Owners of whose unreadable records the log has told. */
  readonly #told = new Set<string>();

  constructor({ store, takeOverMs, log = silentLogger }: OwnersOptions) {
    this.#store = store;
    this.#takeOverMs = takeOverMs;
    this.#log = log;
  }

  /** Looks at all that are there. A record counts as unmoved from the first look at it. */
  async look(): Promise<void> {
    const keys = await this.#store.keys(ownerPrefix);
    const there = keys.length > 0 ? await this.#store.get(keys) : [];
    for (const [index, key] of keys.entries()) await this.#judge(parseOwnerKey(key), there[index]);
    const names = new Set(keys.map(parseOwnerKey));
    for (const ownerId of this.#seen.keys()) if (!names.has(ownerId)) this.#forget(ownerId);
  }

  /** Whether nobody will go on with what this owner began. */
  async isGone(ownerId: string): Promise<boolean> {
    const [stored] = await this.#store.get([ownerKey(ownerId)]);
    return this.#judge(ownerId, stored);
  }

  /** Everybody gets the whole time anew: this process has not looked for so long that others may not have been able to beat. */
  forgetSights(): void {
    this.#seen.clear();
  }

  async #judge(ownerId: string, stored: Stored | undefined): Promise<boolean> {
    if (stored === undefined) {
      this.#forget(ownerId);
      return true;
    }
    const { version } = stored;
    const record = this.#read(ownerId, stored);
    const now = performance.now();
    const seen = this.#seen.get(ownerId);
    const isNew = seen?.version !== version;
    if (isNew) this.#seen.set(ownerId, { version, since: now });
    const isStill = !isNew && now - seen.since >= this.#patience(record);
    if (!isStill && !(record && isDead(record, thisProcess))) return false;
    const key = ownerKey(ownerId);
    const removed = await this.#store.commit({ key, was: version, put: new Map(), remove: [key] });
    if (!removed) return false;
    this.#forget(ownerId);
    this.#log.info({ owner: ownerId, isStill }, "a process is gone without a goodbye");
    return true;
  }

  #patience(record: JsonObject | undefined): number {
    const own = record?.["takeOverMs"];
    return typeof own === "number" && own > 0 ? own : this.#takeOverMs;
  }

  /** Of an owner whose record cannot be read nothing can be said until it has not moved for long enough. */
  #read(ownerId: string, { value }: Stored): JsonObject | undefined {
    try {
      return parseRecord(value, ownerKey(ownerId));
    } catch (error) {
      const { code, message } = toThreadkeeperError(error);
      if (!this.#told.has(ownerId)) {
        this.#log.warn({ code, owner: ownerId }, `a process counts as there while its record moves: ${message}`);
      }
      this.#told.add(ownerId);
      return undefined;
    }
  }

  #forget(ownerId: string): void {
    this.#seen.delete(ownerId);
    this.#told.delete(ownerId);
  }
}
