import { setTimeout as pause } from "node:timers/promises";
import { ThreadkeeperError } from "../errors.ts";
import { type Control, openUnder } from "./control.ts";
import { Lanes } from "./lanes.ts";
import type { SessionEvent } from "./session-event.ts";
import { hourOf, indexed } from "./session-index.ts";
import {
  controlKey,
  eventKey,
  formatEvent,
  formatRecord,
  openKey,
  openPrefix,
  parseControl,
  parseOpenKey,
} from "./session-record.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store, Stored } from "./store/store.ts";

/** What a decision comes to: a result, and first, if there is a `next`, that the store moves (`null`: to nothing). */
export interface Step<T> {
  readonly result: T;
  readonly next?: Control | null;
  /** What `next` counts more than the control before it. */
  readonly events?: readonly SessionEvent[];
  /** Keys that go with it. */
  readonly remove?: readonly string[];
  readonly forget?: boolean;
}

/** Decides on what a session is now; `undefined`: it does not exist. `"moved"`: it changed while it was looked at. */
export type Decision<T> = (control: Control | undefined) => Promise<Step<T> | "moved">;

/** Only other processes can be in the way, and each time one of them has got on: so often in a row it is a fault. */
const maxAttempts = 50;

/** How a session is moved: its control is read, decided on, and replaced by compare-and-set. */
export class SessionChanges {
  readonly #store: Store;
  readonly #lanes = new Lanes();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Changes of one session from this process go one after another, in the order of these calls. When another process
   * was faster, the decision is made again on what is there now.
   */
  change<T>(sessionId: string, decide: Decision<T>, parse = parseControl): Promise<T> {
    return this.#lanes.run(sessionId, () => this.read(sessionId, decide, parse));
  }

  /** The same outside of the order, for decisions that change nothing. */
  async read<T>(sessionId: string, decide: Decision<T>, parse = parseControl): Promise<T> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (attempt > 1) await pause(Math.random() * Math.min(2 ** attempt, 50));
      const [stored] = await this.#store.get([controlKey(sessionId)]);
      const control = stored && parse(sessionId, stored.value);
      const step = await decide(control);
      if (step === "moved") continue;
      if (step.next === undefined || (await this.#commit(sessionId, stored, control, step))) return step.result;
    }
    throw new ThreadkeeperError("STORE_BUSY", `session ${sessionId} changed ${maxAttempts} times under one call`, {
      fields: { sessionId },
    });
  }

  /** Sessions in which there is something to do, and whose it is. */
  async *open(): AsyncGenerator<{ owner: string; sessionId: string }> {
    for await (const page of keyPages(this.#store, openPrefix)) yield* page.map(parseOpenKey);
  }

  /** Resolves when no change is under way. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  async #commit(
    sessionId: string,
    stored: Stored | undefined,
    before: Control | undefined,
    { next, events = [], remove = [], forget = false }: Step<unknown>,
  ): Promise<boolean> {
    const key = controlKey(sessionId);
    const put = new Map<string, string>();
    const gone = new Set(remove);
    const wasOpen = before && openUnder(before);
    const isOpen = next ? openUnder(next) : undefined;
    if (wasOpen && wasOpen !== isOpen) gone.add(openKey(wasOpen, sessionId));
    if (isOpen && wasOpen !== isOpen) put.set(openKey(isOpen, sessionId), formatRecord({}));
    const index = indexed(sessionId, before, next as Control | null, events, hourOf(Date.now()));
    for (const row of index.remove) gone.add(row);
    for (const [row, value] of index.put) put.set(row, value);
    if (index.control) put.set(key, formatRecord(index.control));
    else gone.add(key);
    for (const event of events) put.set(eventKey(sessionId, event.seq as number), formatEvent(event));
    const removed = [...gone].filter((each) => !put.has(each));
    return (await this.#store.commit({ key, was: stored?.version, put, remove: removed, forget })) !== undefined;
  }
}
