import { hostname } from "node:os";
import { ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { isRunning } from "./running-process.ts";
import { formatRecord, ownerKey, parseRecord } from "./session-record.ts";
import type { Store, Stored } from "./store/store.ts";

/** What tells one process from all others, on one machine. */
export interface ProcessMark {
  readonly host: string;
  readonly pid: number;
  /** When it started, in milliseconds of the machine's own monotonic clock, which no clock change moves. */
  readonly start: number;
}

const thisProcess: ProcessMark = {
  host: hostname(),
  pid: process.pid,
  start: Math.round(Number(process.hrtime.bigint()) / 1e6 - process.uptime() * 1000),
};

/**
 * The processes that work on a store, each with one key in it. A run whose owner's key is absent belongs to nobody.
 * Goodbye removes the key; that of a process of this machine which died is removed by who notices.
 */
export class Owners {
  readonly #store: Store;
  readonly #mine: string;
  readonly #log: Logger;

  constructor(store: Store, mine: string, log: Logger = silentLogger) {
    this.#store = store;
    this.#mine = mine;
    this.#log = log;
  }

  async arrive(): Promise<void> {
    const key = ownerKey(this.#mine);
    const put = new Map([[key, formatRecord(thisProcess)]]);
    if (await this.#store.commit({ key, was: undefined, put })) return;
    throw new ThreadkeeperError("UNEXPECTED", `the owner id ${this.#mine} is in use in ${this.#store.description}`);
  }

  async leave(): Promise<void> {
    const key = ownerKey(this.#mine);
    const [stored] = await this.#store.get([key]);
    if (stored) await this.#remove(key, stored);
  }

  /** Whether nobody will go on with what this owner began. */
  async isGone(ownerId: string): Promise<boolean> {
    if (ownerId === this.#mine) return false;
    const key = ownerKey(ownerId);
    const [stored] = await this.#store.get([key]);
    if (stored === undefined) return true;
    const owner = this.#read(key, stored);
    if (!owner || isAlive(owner, thisProcess)) return false;
    await this.#remove(key, stored);
    return true;
  }

  /** Of an owner whose record cannot be read nothing can be said, and what is others' must not be held up by it. */
  #read(key: string, { value }: Stored): ProcessMark | undefined {
    try {
      return parseOwner(key, value);
    } catch (error) {
      const { code, message } = toThreadkeeperError(error);
      this.#log.warn({ code, key }, `a process counts as there, since nothing else can be said of it: ${message}`);
      return undefined;
    }
  }

  async #remove(key: string, { version }: Stored): Promise<void> {
    await this.#store.commit({ key, was: version, put: new Map(), remove: [key] });
  }
}

/** Of another machine nothing can be said, so that its processes count as alive until they say goodbye. */
export function isAlive(owner: ProcessMark, here: ProcessMark): boolean {
  if (owner.host !== here.host) return true;
  // A restarted container gives its process the number that the dead one had.
  if (owner.pid === here.pid) return Math.abs(owner.start - here.start) < 1000;
  return isRunning(owner.pid);
}

function parseOwner(key: string, text: string | undefined): ProcessMark {
  const { host, pid, start } = parseRecord(text, key);
  if (typeof host === "string" && Number.isSafeInteger(pid) && typeof start === "number") {
    return { host, pid: pid as number, start };
  }
  throw new ThreadkeeperError("STORE_CORRUPT", `${key} is not the record of a process; nothing was changed`);
}
