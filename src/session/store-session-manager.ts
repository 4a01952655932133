import { setTimeout as pause } from "node:timers/promises";
import { StaleSessionError, ThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import {
  type Control,
  isKnown,
  newControl,
  openUnder,
  type StoredRun,
  versionOf,
  type WaitingInput,
  withEnded,
  withoutRun,
  withRun,
  withSaved,
  withWaiting,
} from "./control.ts";
import { inputEvents } from "./input-events.ts";
import { Lanes } from "./lanes.ts";
import { Owners } from "./owners.ts";
import { type JsonObject, plainJson } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import { checkSessionId, type Session } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import type { CoveredInput, Input, LoadOptions, Run, SessionManager, Taken } from "./session-manager.ts";
import {
  controlKey,
  deepFreeze,
  eventKey,
  eventPrefix,
  formatEvent,
  formatRecord,
  isEvent,
  isInput,
  openKey,
  openPrefix,
  parseControl,
} from "./session-record.ts";
import { loadWindow } from "./session-window.ts";
import type { Store, Stored } from "./store/store.ts";

export interface SessionsOptions {
  readonly store: Store;
  readonly log?: Logger;
  /** How many inputs may wait in one session. Default 50. */
  readonly maxWaiting?: number;
  /** Names this process in the store; must be new. Default: random. */
  readonly ownerId?: string;
}

/** A `SessionManager` over a store; the only one there is. Several processes may have one on the same store. */
export async function openSessions(options: SessionsOptions): Promise<SessionManager> {
  const manager = new StoreSessionManager(options);
  await manager.arrive();
  return manager;
}

const defaultMaxBytes = 262_144;

/** Only other processes can be in the way, and each time one of them has got on: so often in a row it is a fault. */
const maxAttempts = 50;

/** What an attempt wants: an answer, and first, if there is a `next`, that the store moves (`null`: to nothing). */
interface Step<T> {
  readonly result: T;
  readonly next?: Control | null;
  readonly events?: readonly SessionEvent[];
  readonly remove?: readonly string[];
  readonly forget?: boolean;
}

type Attempt<T> = (control: Control | undefined) => Promise<Step<T> | "moved">;

class StoreSessionManager implements SessionManager {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #maxWaiting: number;
  readonly #owner: string;
  readonly #owners: Owners;
  /** Changes of one session from this process go one after another: only other processes can be in the way. */
  readonly #lanes = new Lanes();
  #closing: Promise<void> | undefined;

  constructor({ store, log = silentLogger, maxWaiting = 50, ownerId = randomId() }: SessionsOptions) {
    this.#store = store;
    this.#log = log;
    this.#maxWaiting = maxWaiting;
    this.#owner = ownerId;
    this.#owners = new Owners(store, ownerId);
  }

  arrive(): Promise<void> {
    return this.#owners.arrive();
  }

  create(options: { readonly sessionId?: string; readonly state?: JsonObject } = {}): Promise<Session> {
    const { sessionId = randomId() } = options;
    return this.#change(sessionId, async (control) => {
      if (control) return this.#whole(sessionId, control, defaultMaxBytes);
      const next = newControl(randomId(), plainJson(options.state ?? {}, "state"));
      return { next, result: session(sessionId, next, []) };
    });
  }

  async get(sessionId: string, { maxBytes = defaultMaxBytes }: LoadOptions = {}): Promise<Session | undefined> {
    this.#check(sessionId);
    // Reads take no lane; a session that moves under the read is read again.
    return this.#attempts(sessionId, async (control) =>
      control ? this.#whole(sessionId, control, maxBytes) : { result: undefined },
    );
  }

  async save(given: Session, { run, ended }: { readonly run?: Run; readonly ended?: boolean } = {}): Promise<Session> {
    const { sessionId } = given;
    const { saved, added } = parted(given);
    const state = plainJson(given.state, "state");
    return this.#change(sessionId, async (control) => {
      if (run) checkRun(sessionId, control, run);
      else await this.#checkNobodyRuns(sessionId, control);
      const before = control ?? newControl(randomId());
      if (control ? given.version !== versionOf(control) : given.version !== "") {
        throw new StaleSessionError(sessionId, control ? "it changed since it was read" : "it no longer exists");
      }
      const events = added.map((event, index) => deepFreeze({ ...event, seq: before.count + index }));
      const grown = withSaved(before, events.length, state);
      const next = ended ? withEnded(grown) : grown;
      return { next, events, result: session(sessionId, next, [...saved, ...events]) };
    });
  }

  async take(
    sessionId: string,
    input?: Input,
    { maxBytes = defaultMaxBytes, create = false }: LoadOptions & { readonly create?: boolean } = {},
  ): Promise<Taken> {
    const arrived = input && checkInput(input);
    return this.#change<Taken>(sessionId, async (stored) => {
      if (stored === undefined && !create) throw notFound(sessionId);
      const control = stored ?? newControl(randomId());
      if (arrived && isKnown(control, arrived.id)) return { result: { outcome: "known" } };
      const free = control.run === undefined || (await this.#owners.isGone(control.run.owner));
      if (!free && arrived && control.waiting.length >= this.#maxWaiting) {
        return { result: { outcome: "full", limit: this.#maxWaiting } };
      }
      const next = arrived ? withWaiting(control, arrived) : control;
      if (!free) return arrived ? { next, result: { outcome: "waiting" } } : { result: { outcome: "idle" } };
      if (control.run) this.#log.info({ sessionId, owner: control.run.owner }, "taking over a run of a gone owner");
      const step = await this.#start(sessionId, control, next, maxBytes);
      if (step === "moved") return step;
      return { ...step, result: step.result ? { outcome: "run", run: step.result } : { outcome: "idle" } };
    });
  }

  async finish(run: Run, { maxBytes = defaultMaxBytes }: LoadOptions = {}): Promise<Run | undefined> {
    const { sessionId } = run.session;
    return this.#change<Run | undefined>(sessionId, async (control) => {
      if (control?.run?.id !== run.id) return { result: undefined };
      return this.#start(sessionId, control, withoutRun(control), maxBytes);
    });
  }

  async interrupt(sessionId: string): Promise<CoveredInput[]> {
    return this.#change<CoveredInput[]>(sessionId, async (control) => {
      if (!control?.run) return { result: [] };
      return { next: withoutRun(control), result: [...control.run.inputs] };
    });
  }

  async unfinished(): Promise<string[]> {
    this.#checkOpen();
    const gone = new Map<string, boolean>([["-", true]]);
    const found = new Set<string>();
    for await (const key of this.#keys(openPrefix)) {
      const [owner = "", sessionId = ""] = key.slice(openPrefix.length).split("/");
      if (!gone.has(owner)) gone.set(owner, await this.#owners.isGone(owner));
      if (gone.get(owner)) found.add(sessionId);
    }
    return [...found];
  }

  async reset(sessionId: string): Promise<boolean> {
    return this.#change<boolean>(sessionId, async (control) => {
      if (!control) return { result: false };
      const next = newControl(randomId(), {}, control.handled);
      return { next, remove: await this.#eventKeys(sessionId), forget: true, result: true };
    });
  }

  async delete(sessionId: string): Promise<boolean> {
    return this.#change<boolean>(sessionId, async (control) => {
      if (!control) return { result: false };
      return { next: null, remove: await this.#eventKeys(sessionId), forget: true, result: true };
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#lanes.idle().then(() => this.#owners.leave());
    return this.#closing;
  }

  /** Begins a run with all that waits in `next`; if nothing does, `next` is left without a run. */
  async #start(
    sessionId: string,
    before: Control,
    next: Control,
    maxBytes: number,
  ): Promise<Step<Run | undefined> | "moved"> {
    const nothingToDo = next.waiting.length === 0 && (next.run === undefined || next.run.ended);
    if (nothingToDo) return before.run ? { next: withoutRun(next), result: undefined } : { result: undefined };
    const loaded = await loadWindow(this.#store, sessionId, before, maxBytes);
    if (loaded === undefined) return "moved";
    const running = withRun(next, { id: randomId(), turn: randomId(), owner: this.#owner });
    const stored = running.run as StoredRun;
    const events = inputEvents(next.waiting, stored.turn, before.count, loaded);
    const result: Run = {
      id: stored.id,
      turn: stored.turn,
      inputs: stored.inputs,
      session: session(sessionId, running, [...loaded, ...events]),
    };
    return { next: running, events, result };
  }

  async #whole(sessionId: string, control: Control, maxBytes: number): Promise<{ result: Session } | "moved"> {
    const events = await loadWindow(this.#store, sessionId, control, maxBytes);
    return events ? { result: session(sessionId, control, events) } : "moved";
  }

  async #checkNobodyRuns(sessionId: string, control: Control | undefined): Promise<void> {
    if (!control?.run || (await this.#owners.isGone(control.run.owner))) return;
    throw new StaleSessionError(sessionId, "a run is working on it");
  }

  /** Takes its place in the order at once, when it is called. */
  async #change<T>(sessionId: string, attempt: Attempt<T>): Promise<T> {
    this.#check(sessionId);
    return this.#lanes.run(sessionId, () => this.#attempts(sessionId, attempt));
  }

  /** Reads the control, lets `attempt` decide on it, and commits; from the start again if it moved in between. */
  async #attempts<T>(sessionId: string, attempt: Attempt<T>): Promise<T> {
    for (let count = 0; count < maxAttempts; count++) {
      if (count > 1) await pause(Math.random() * Math.min(2 ** count, 50));
      const [stored] = await this.#store.get([controlKey(sessionId)]);
      const control = stored && parseControl(sessionId, stored.value);
      const step = await attempt(control);
      if (step === "moved") continue;
      if (step.next === undefined || (await this.#commit(sessionId, stored, control, step))) return step.result;
    }
    throw new ThreadkeeperError("STORE_BUSY", `session ${sessionId} changed ${maxAttempts} times under one call`, {
      fields: { sessionId },
    });
  }

  #commit(
    sessionId: string,
    stored: Stored | undefined,
    before: Control | undefined,
    { next, events = [], remove = [], forget = false }: Step<unknown>,
  ): Promise<boolean> {
    const key = controlKey(sessionId);
    const put = new Map<string, string>();
    const gone = [...remove];
    if (next) put.set(key, formatRecord(next));
    else gone.push(key);
    for (const event of events) put.set(eventKey(sessionId, event.seq as number), formatEvent(event));
    const wasOpen = before && openUnder(before);
    const isOpen = next ? openUnder(next) : undefined;
    if (wasOpen !== isOpen) {
      if (isOpen) put.set(openKey(isOpen, sessionId), formatRecord({}));
      if (wasOpen) gone.push(openKey(wasOpen, sessionId));
    }
    return this.#store.commit({ key, was: stored?.version, put, remove: gone, forget });
  }

  async #eventKeys(sessionId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of this.#keys(eventPrefix(sessionId))) keys.push(key);
    return keys;
  }

  async *#keys(prefix: string): AsyncGenerator<string> {
    for (let page = await this.#store.keys(prefix); page.length > 0; ) {
      yield* page;
      page = await this.#store.keys(prefix, { after: page.at(-1) as string });
    }
  }

  #check(sessionId: string): void {
    this.#checkOpen();
    checkSessionId(sessionId);
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", "the sessions are closed");
  }
}

function session(sessionId: string, control: Control, events: readonly SessionEvent[]): Session {
  return {
    sessionId,
    events,
    state: control.state,
    version: versionOf(control),
    earlier: events[0]?.seq ?? control.count,
  };
}

function parted({ events }: Session): { saved: SessionEvent[]; added: SessionEvent[] } {
  const saved = events.filter((event) => event.seq !== undefined);
  const added = events.filter((event) => event.seq === undefined).map((event) => plainJson(event, `event ${event.id}`));
  const ids = new Set(saved.map((event) => event.id));
  for (const event of added) {
    if (!isEvent(event)) throw invalid(`an event has an id, a time, a turn and a message, not so ${event["id"]}`);
    if (ids.has(event.id)) throw invalid(`event ${event.id} is in the session already`);
    ids.add(event.id);
  }
  return { saved, added };
}

function checkInput(input: Input): WaitingInput {
  const plain = plainJson(input, "input");
  if (!isInput(plain)) throw invalid("an input has an id and a content, which is a text or a list of parts");
  return { ...plain, at: new Date().toISOString() };
}

function checkRun(sessionId: string, control: Control | undefined, run: Run): void {
  if (control?.run?.id === run.id) return;
  throw new ThreadkeeperError("RUN_LOST", `run ${run.id} may no longer write to session ${sessionId}`, {
    fields: { sessionId, turn: run.turn },
  });
}

function notFound(sessionId: string): ThreadkeeperError {
  return new ThreadkeeperError("SESSION_NOT_FOUND", `there is no session ${sessionId}`, { fields: { sessionId } });
}

function invalid(why: string): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", why);
}
