// One thing although long: every method is one decision on one record, and they are judged side by side.
import { isDeepStrictEqual } from "node:util";
import { StaleSessionError, sessionExists, sessionNotFound, ThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { checkInput, checkNewEvents, checkPlaces, checkSummary } from "./check-input.ts";
import {
  amended,
  type Control,
  emptied,
  isKnown,
  isRevisionOf,
  newControl,
  versionOf,
  withEnded,
  withoutRun,
  withRun,
  withSaved,
  withWaiting,
} from "./control.ts";
import { eraseWords } from "./erase-words.ts";
import { forkSession } from "./fork-session.ts";
import { inputEvents } from "./input-events.ts";
import { listSessions } from "./list-sessions.ts";
import { Ownership, type OwnershipOptions } from "./ownership.ts";
import { placesWith } from "./places.ts";
import { type JsonObject, plainJson } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import { readHistory } from "./read-history.ts";
import { rewindSession } from "./rewind-session.ts";
import { checkSessionId, type Session, type Summary } from "./session.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionChanges, type Step } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import { sessionKeys } from "./session-keys.ts";
import type {
  CoveredInput,
  ForkOptions,
  HistoryOptions,
  Input,
  ListOptions,
  LoadOptions,
  Rewound,
  Run,
  SessionEntry,
  SessionManager,
  StartOptions,
  Taken,
  TurnEnd,
} from "./session-manager.ts";
import { deepFreeze } from "./session-record.ts";
import { SessionWindows } from "./session-window.ts";
import type { Store } from "./store/store.ts";
import { readEvents } from "./stored-events.ts";

export interface SessionsOptions extends OwnershipOptions {
  /** How many inputs may wait in one session. Default 50. */
  readonly maxWaiting?: number;
  /**
   * How much is remembered of all sessions together, so that a turn reads nothing that the one before it wrote; in
   * bytes as stored (in memory they are a few times more). Default 64,000,000.
   */
  readonly cacheBytes?: number;
}

/** Sessions in a store. Several processes may have the same store open. */
export async function openSessions(options: SessionsOptions): Promise<SessionManager> {
  const manager = new StoreSessionManager(options);
  await manager.arrive();
  return manager;
}

const defaultMaxBytes = 262_144;

class StoreSessionManager implements SessionManager {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #maxWaiting: number;
  readonly #ownership: Ownership;
  readonly #windows: SessionWindows;
  readonly #changes: SessionChanges;
  #closing: Promise<void> | undefined;

  constructor({ maxWaiting = 50, cacheBytes = 64_000_000, ...options }: SessionsOptions) {
    const { store, log = silentLogger } = options;
    const cache = new SessionCache(cacheBytes);
    this.#store = store;
    this.#log = log;
    this.#maxWaiting = maxWaiting;
    this.#ownership = new Ownership(options);
    this.#windows = new SessionWindows(store, cache);
    this.#changes = new SessionChanges(store, cache, this.#windows);
  }

  arrive(): Promise<void> {
    return this.#ownership.arrive();
  }

  async create({ sessionId = randomId(), state = {} }: { sessionId?: string; state?: JsonObject } = {}) {
    this.#check(sessionId);
    const plain = plainJson(state, "state");
    return this.#changes.change<Session>(sessionId, async (control) => {
      if (control) return this.#whole(sessionId, control, defaultMaxBytes);
      const next = newControl(randomId(), plain);
      return { next, result: session(sessionId, next, []) };
    });
  }

  async get(sessionId: string, { maxBytes = defaultMaxBytes }: LoadOptions = {}): Promise<Session | undefined> {
    this.#check(sessionId);
    return this.#changes.read<Session | undefined>(sessionId, async (control) =>
      control ? this.#whole(sessionId, control, maxBytes) : { result: undefined },
    );
  }

  async save(given: Session, { run, ended }: { readonly run?: Run; readonly ended?: TurnEnd } = {}): Promise<Session> {
    const { sessionId, version } = given;
    this.#check(sessionId);
    const state = plainJson(given.state, "state");
    const end = ended && plainJson(ended, "ended");
    const added = checkNewEvents(given);
    return this.#changes.change<Session>(sessionId, async (control) => {
      if (run) checkRun(sessionId, control, run);
      else if (control?.run && !(await this.#ownership.isAbandoned(control.run))) {
        throw new StaleSessionError(sessionId, "a run is working on it");
      }
      const known = given.events.filter((event) => event.seq !== undefined);
      const before = control ?? newControl(randomId());
      const first = (known.at(-1)?.seq ?? given.earlier - 1) + 1;
      const events = added.map((event, index) => deepFreeze({ ...event, seq: first + index }));
      // Nobody but the run adds events, and what others change under it leaves their number as it is.
      const stored = run ? await this.#howManyStored(sessionId, before, events, first) : 0;
      if (stored === "moved") return "moved";
      if (stored === undefined || (!run && version !== (control ? versionOf(control) : ""))) {
        throw new StaleSessionError(sessionId, control ? "it changed since it was read" : "it no longer exists");
      }
      const saved = withSaved(before, events.length - stored, state);
      const next = run && end ? withEnded(saved, end) : saved;
      return { next, events: events.slice(stored), result: session(sessionId, next, [...known, ...events]) };
    });
  }

  /**
   * How many of a run's new events are in the store already, by a save that could not say so. `undefined`: others are.
   */
  async #howManyStored(
    sessionId: string,
    control: Control,
    events: readonly SessionEvent[],
    first: number,
  ): Promise<number | "moved" | undefined> {
    const more = control.count - first;
    if (more < 0 || more > events.length) return undefined;
    if (more === 0) return 0;
    const seqs = events.slice(0, more).map((event) => event.seq as number);
    const stored = await readEvents(this.#store, sessionId, control.revision, seqs);
    if (!stored) return "moved";
    return stored.every(({ event }, index) => event.id === events[index]?.id) ? more : undefined;
  }

  async take(
    sessionId: string,
    input?: Input,
    { maxBytes = defaultMaxBytes, start = true, create = false }: StartOptions & { readonly create?: boolean } = {},
  ): Promise<Taken> {
    this.#check(sessionId);
    const arrived = input && checkInput(input);
    return this.#ownership.giving(sessionId, (runId) =>
      this.#changes.change<Taken>(sessionId, async (stored) => {
        if (!stored && !create) throw sessionNotFound(sessionId);
        const control = stored ?? newControl(randomId());
        if (arrived && isKnown(control, arrived.id)) return { result: { outcome: "known" } };
        const free = start && (!control.run || (await this.#ownership.isAbandoned(control.run)));
        if (!free && !arrived) return { result: { outcome: "idle" } };
        // One that takes a run over is stored all the same: a full queue would else never move again.
        if (!free && control.waiting.length >= this.#maxWaiting) {
          return { result: { outcome: "full", limit: this.#maxWaiting } };
        }
        const next = arrived ? withWaiting(control, arrived) : control;
        if (!free) return { next, result: { outcome: "waiting" } };
        if (control.run) this.#log.info({ sessionId, gone: control.run.owner }, "taking over what a process left");
        return this.#start(sessionId, control, next, runId, maxBytes);
      }),
    );
  }

  async finish(run: Run, { maxBytes = defaultMaxBytes, start = true }: StartOptions = {}): Promise<Run | undefined> {
    const { sessionId } = run.session;
    this.#check(sessionId);
    const taken = await this.#ownership.giving(
      sessionId,
      (runId) =>
        this.#changes.change<Taken>(sessionId, async (control) => {
          if (control?.run?.id !== run.id || run.signal?.aborted) return { result: { outcome: "idle" } };
          const next = withoutRun(control);
          return start ? this.#start(sessionId, control, next, runId, maxBytes) : { next, result: { outcome: "idle" } };
        }),
      // Not before: a take that stands before it in the order would find a run of nobody, and show its turn again.
      run.id,
    );
    return taken.outcome === "run" ? taken.run : undefined;
  }

  release({ id }: Run): void {
    this.#ownership.letGo(id);
  }

  async interrupt(sessionId: string): Promise<CoveredInput[]> {
    this.#check(sessionId);
    return this.#changes.change<CoveredInput[]>(sessionId, async (control) =>
      control?.run ? { next: withoutRun(control), result: [...control.run.inputs] } : { result: [] },
    );
  }

  async unfinished(): Promise<string[]> {
    this.#checkOpen();
    return this.#ownership.unfinished();
  }

  onUnfinished(listener: (sessionIds: readonly string[]) => void): void {
    this.#ownership.onUnfinished(listener);
  }

  isPresent(): boolean {
    return this.#ownership.isSure();
  }

  lastBeat(): Date | undefined {
    return this.#ownership.lastBeat;
  }

  async summarise(given: Session, summary: Summary): Promise<boolean> {
    const { sessionId, version } = given;
    this.#check(sessionId);
    const next = checkSummary(given, summary);
    return this.#changes.change<boolean>(sessionId, async (control) =>
      control && isRevisionOf(version, control) && isDeepStrictEqual(control.summary, given.summary)
        ? { next: { ...control, summary: next }, result: true }
        : { result: false },
    );
  }

  async reset(sessionId: string): Promise<boolean> {
    this.#check(sessionId);
    return this.#changes.change<boolean>(sessionId, async (control) => {
      if (!control) return { result: false };
      return {
        next: emptied(control, randomId()),
        remove: await sessionKeys(this.#store, sessionId),
        forget: true,
        result: true,
      };
    });
  }

  async delete(sessionId: string): Promise<boolean> {
    this.#check(sessionId);
    const decide = async (control: Control | undefined): Promise<Step<boolean>> => {
      if (!control) return { result: false };
      const remove = await sessionKeys(this.#store, sessionId, control.revision === "");
      return { next: null, remove, forget: true, result: true };
    };
    return this.#changes.change(sessionId, decide, { evenIfDamaged: true });
  }

  async amend(sessionId: string, { id, content }: Pick<Input, "id" | "content">): Promise<boolean> {
    this.#check(sessionId);
    const { content: words } = checkInput({ id, content });
    return this.#changes.change<boolean>(sessionId, async (control) =>
      control?.waiting.some((input) => input.id === id)
        ? { next: amended(control, id, words), forget: true, result: true }
        : { result: false },
    );
  }

  async erase(ids: readonly string[]): Promise<string[]> {
    this.#checkOpen();
    return eraseWords(this.#store, this.#changes, ids);
  }

  async rewind(sessionId: string, turn?: string): Promise<Rewound | undefined> {
    this.#check(sessionId);
    return this.#changes.change<Rewound | undefined>(sessionId, async (control) =>
      control ? rewindSession(this.#store, sessionId, control, turn) : { result: undefined },
    );
  }

  async fork(sessionId: string, { sessionId: to = randomId(), turn, places }: ForkOptions = {}): Promise<Session> {
    this.#check(sessionId);
    this.#check(to);
    const lying = places && checkPlaces(places);
    await this.#changes.change<void>(to, async (existing) => {
      if (existing) throw sessionExists(to);
      const source = await this.#changes.control(sessionId);
      return forkSession(this.#store, sessionId, source, { turn, places: lying });
    });
    const made = await this.get(to);
    if (made) return made;
    throw sessionNotFound(to);
  }

  async places(prefix: string): Promise<string[]> {
    this.#checkOpen();
    return placesWith(this.#store, prefix);
  }

  async list(options: ListOptions = {}): Promise<SessionEntry[]> {
    this.#checkOpen();
    return listSessions(this.#store, options);
  }

  history(sessionId: string, options: HistoryOptions = {}): AsyncIterable<SessionEvent> {
    this.#check(sessionId);
    return readHistory(this.#store, this.#changes, sessionId, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#changes.idle().then(() => this.#ownership.leave());
    return this.#closing;
  }

  /** Gives out the run that was abandoned in `next`, or one of all that waits; if that is nothing, `next` stays as it is. */
  async #start(
    sessionId: string,
    before: Control,
    next: Control,
    runId: string,
    maxBytes: number,
  ): Promise<Step<Taken> | "moved"> {
    if (!next.run && next.waiting.length === 0) {
      return { ...(before.run && { next }), result: { outcome: "idle" } };
    }
    const loaded = await this.#windows.load(sessionId, before, maxBytes);
    if (!loaded) return "moved";
    const owner = await this.#ownership.sureOwner();
    const running = withRun(next, { id: runId, turn: randomId(), owner });
    const { id, turn, inputs, ended } = running.run;
    const events = next.run ? [] : inputEvents(next.waiting, turn, before.count, loaded);
    const run: Run = {
      id,
      turn,
      inputs,
      session: session(sessionId, running, [...loaded, ...events]),
      ...(next.run && { resumed: true }),
      ...(ended && { ended }),
    };
    return { next: running, events, result: { outcome: "run", run } };
  }

  async #whole(sessionId: string, control: Control, maxBytes: number): Promise<Step<Session> | "moved"> {
    const events = await this.#windows.load(sessionId, control, maxBytes);
    return events ? { result: session(sessionId, control, events) } : "moved";
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
  const { state, count, summary } = control;
  return {
    sessionId,
    events,
    // The one part of a control that is theirs to change, and what we remember must not change with it.
    state: structuredClone(state),
    version: versionOf(control),
    earlier: events[0]?.seq ?? count,
    ...(summary && { summary }),
  };
}

function checkRun(sessionId: string, control: Control | undefined, run: Run): void {
  if (control?.run?.id === run.id && !run.signal?.aborted) return;
  throw new ThreadkeeperError("RUN_LOST", `run ${run.id} may no longer write to session ${sessionId}`, {
    fields: { sessionId, turn: run.turn },
  });
}
