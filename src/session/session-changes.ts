import { setTimeout as pause } from "node:timers/promises";
import { hasCode, sessionNotFound, ThreadkeeperError } from "../errors.ts";
import { Lanes } from "../lanes.ts";
import { type Control, newControl, openUnder } from "./control.ts";
import { firstEvents } from "./event-page.ts";
import { parseNaive } from "./naive-session.ts";
import type { SessionCache } from "./session-cache.ts";
import type { SessionEvent } from "./session-event.ts";
import { isOlder } from "./session-format.ts";
import { hourOf, indexed } from "./session-index.ts";
import {
  controlKey,
  deepFreeze,
  eventRows,
  formatControl,
  formatRecord,
  openKey,
  openPrefix,
  parseControl,
  parseOpenKey,
  summaryKey,
} from "./session-record.ts";
import type { SessionWindows } from "./session-window.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store } from "./store/store.ts";
import type { StoredEvent } from "./stored-events.ts";

/** What a decision comes to: a result, and first, if there is a `next`, that the store moves (`null`: to nothing). */
export interface Step<T> {
  readonly result: T;
  readonly next?: Control | null;
  /** What `next` counts more than the control before it. */
  readonly events?: readonly SessionEvent[];
  /** What stands in the places of events that were there. */
  readonly replaced?: readonly SessionEvent[];
  /** Keys that go with it. */
  readonly remove?: readonly string[];
  readonly forget?: boolean;
}

/** Decides on what a session is now; `undefined`: it does not exist. `"moved"`: it changed while it was looked at. */
export type Decision<T> = (control: Control | undefined) => Promise<Step<T> | "moved">;

/** Only other processes can be in the way, and each time one of them has got on: so often in a row it is a fault. */
const maxAttempts = 50;

/** What a decision is made on. */
interface Found {
  /** The version of the control's key; `undefined`: there is none. */
  readonly version: string | undefined;
  readonly control: Control | undefined;
  /** It is kept as a plain Keyv or an older program kept it, with these events. */
  readonly older?: { readonly events: readonly SessionEvent[] } | undefined;
}

interface ChangeOptions {
  /** A session that cannot be read counts as one without anything in it. */
  readonly evenIfDamaged?: boolean;
}

/** How a session is moved: its control is decided on, and replaced by compare-and-set. */
export class SessionChanges {
  readonly #store: Store;
  readonly #cache: SessionCache;
  readonly #windows: SessionWindows;
  readonly #lanes = new Lanes();

  constructor(store: Store, cache: SessionCache, windows: SessionWindows) {
    this.#store = store;
    this.#cache = cache;
    this.#windows = windows;
  }

  /**
   * Changes of one session from this process go one after another, in the order of these calls. The decision is made
   * on what we remember of the session, and again on what is there if that was out of date. No answer is given by
   * memory alone: a decision that changes nothing, or throws, is made on what is there.
   */
  change<T>(sessionId: string, decide: Decision<T>, options: ChangeOptions = {}): Promise<T> {
    return this.#lanes.run(sessionId, () => this.#decide(sessionId, decide, this.#cache.control(sessionId), options));
  }

  /** The same outside of the order, for decisions that change nothing. */
  read<T>(sessionId: string, decide: Decision<T>): Promise<T> {
    return this.#decide(sessionId, decide, undefined, {});
  }

  /** What a session is now. @throws ThreadkeeperError `SESSION_NOT_FOUND`, `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
  async control(sessionId: string): Promise<Control> {
    const control = await this.read(sessionId, async (found) => ({ result: found }));
    if (control) return control;
    throw sessionNotFound(sessionId);
  }

  /** Sessions in which there is something to do, and whose it is. */
  async *open(): AsyncGenerator<{ owner: string; sessionId: string }> {
    for await (const page of keyPages(this.#store, openPrefix)) yield* page.map(parseOpenKey);
  }

  /** Resolves when no change is under way. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  async #decide<T>(
    sessionId: string,
    decide: Decision<T>,
    remembered: Found | undefined,
    options: ChangeOptions,
  ): Promise<T> {
    try {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        if (attempt > 1) await pause(Math.random() * Math.min(2 ** attempt, 50));
        const isMemory = remembered !== undefined && attempt === 0;
        const found = isMemory ? remembered : await this.#find(sessionId, options);
        if (found === "moved") continue;
        const step = found.older ? moveIn(found) : await this.#ask(decide, found.control, isMemory);
        if (step === "moved" || (isMemory && step.next === undefined)) continue;
        const done = step.next === undefined || (await this.#commit(sessionId, found, step));
        if (done && !found.older) return step.result as T;
      }
      throw new ThreadkeeperError("STORE_BUSY", `changed ${maxAttempts} times under one call`);
    } catch (error) {
      throw placed(error, sessionId, this.#store.description);
    }
  }

  async #find(sessionId: string, { evenIfDamaged = false }: ChangeOptions): Promise<Found | "moved"> {
    const key = controlKey(sessionId);
    const known = this.#cache.control(sessionId);
    if (known) {
      const [same] = await this.#store.get([key]);
      if (same?.version === known.version) return known;
    }
    const [stored, summary, naive] = await this.#store.get([key, summaryKey(sessionId), sessionId]);
    try {
      if (!stored && naive) {
        const { control, naive: older } = parseNaive(sessionId, naive.value);
        return { version: undefined, control, older };
      }
      if (!stored) return { version: undefined, control: undefined };
      const { version } = stored;
      const control = parseControl(sessionId, stored.value, { summary: summary?.value });
      if (!isOlder(stored.value)) return { version, control };
      const events = await firstEvents(this.#store, sessionId, control.revision, control.count);
      return events ? { version, control, older: { events } } : "moved";
    } catch (error) {
      if (!evenIfDamaged || !hasCode(error, "STORE_CORRUPT")) throw error;
      return { version: stored?.version, control: readableControl(sessionId, stored?.value) };
    }
  }

  async #ask<T>(decide: Decision<T>, control: Control | undefined, isMemory: boolean): Promise<Step<T> | "moved"> {
    try {
      return await decide(control);
    } catch (error) {
      if (!isMemory || hasCode(error, "STORE_UNAVAILABLE", "STORE_BUSY", "STORE_CLOSED")) throw error;
      return "moved";
    }
  }

  async #commit(sessionId: string, { version: was, control, older }: Found, step: Step<unknown>): Promise<boolean> {
    const { next, events = [], replaced = [], remove = [], forget = false } = step;
    const key = controlKey(sessionId);
    const put = new Map<string, string>();
    const gone = new Set(remove);
    if (was === undefined && control) gone.add(sessionId);
    const before = older ? undefined : control;
    const wasOpen = before && openUnder(before);
    const isOpen = next ? openUnder(next) : undefined;
    if (wasOpen && wasOpen !== isOpen) gone.add(openKey(wasOpen, sessionId));
    if (isOpen && wasOpen !== isOpen) put.set(openKey(isOpen, sessionId), formatRecord({}));
    const index = indexed(sessionId, before, next as Control | null, events, hourOf(Date.now()));
    for (const row of index.remove) gone.add(row);
    for (const [row, value] of index.put) put.set(row, value);
    const text = index.control && formatControl(index.control);
    if (text) put.set(key, text);
    else gone.add(key);
    const summary = index.control?.summary?.text;
    const hadSummary = before?.summary?.text;
    if (summary !== undefined && summary !== hadSummary) put.set(summaryKey(sessionId), summary);
    if (summary === undefined && (hadSummary !== undefined || !next)) gone.add(summaryKey(sessionId));
    const rowsOf = (event: SessionEvent): StoredEvent => {
      const rows = eventRows(sessionId, event);
      for (const [each, value] of rows) put.set(each, value);
      const bytes = Array.from(rows.values()).reduce((sum, row) => sum + Buffer.byteLength(row), 0);
      return { event, large: [], bytes };
    };
    replaced.forEach(rowsOf);
    const added = events.map(rowsOf);
    const removed = [...gone].filter((each) => !put.has(each));
    // Whether a commit that failed was made is not known.
    this.#cache.keepControl(sessionId, undefined);
    const made = await this.#store.commit({ key, was, put, remove: removed, forget });
    if (!made) return false;
    if (index.control && text && made.version !== undefined) {
      const control = deepFreeze(index.control);
      this.#cache.keepControl(sessionId, { control, version: made.version, bytes: text.length });
      this.#windows.extend(sessionId, before, control, added);
    } else {
      this.#cache.forget(sessionId);
    }
    return true;
  }
}

/** What can be read of a damaged session's control: all but its summary, or nothing. */
function readableControl(sessionId: string, text: string | undefined): Control {
  try {
    return parseControl(sessionId, text);
  } catch {
    return newControl("");
  }
}

/**
 * A session as a plain Keyv or an older program kept it becomes one of today's, with all rows that it should have, before
 * anything else is decided on it.
 */
function moveIn({ control, older }: Found): Step<undefined> {
  return { next: control as Control, events: older?.events ?? [], result: undefined };
}

/** A failure of the store says in which session, the one that it names itself if it does, and in which store. */
export function placed(error: unknown, sessionId: string, store: string): unknown {
  if (!(error instanceof ThreadkeeperError && error.code.startsWith("STORE_"))) return error;
  const { code, cause, fields } = error;
  const named = fields["sessionId"];
  const names = [named === undefined && `session ${sessionId}`, !error.message.includes(store) && store];
  const where = names.filter(Boolean).join(", ");
  const message = where ? `${error.message} (${where})` : error.message;
  return new ThreadkeeperError(code, message, { fields: { ...fields, sessionId: named ?? sessionId, store }, cause });
}
