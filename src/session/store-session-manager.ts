// One thing although long: every method only says which decision is made on which session.
import { sessionExists, sessionNotFound, ThreadkeeperError } from "../errors.ts";
import { silentLogger } from "../log.ts";
import { checkInput, checkPlaces } from "./check-input.ts";
import { amended, type Control, emptied, newControl, withoutRun } from "./control.ts";
import { eraseWords } from "./erase-words.ts";
import { forkSession } from "./fork-session.ts";
import { listSessions } from "./list-sessions.ts";
import { Ownership, type OwnershipOptions } from "./ownership/ownership.ts";
import { placesWith } from "./places.ts";
import { type JsonObject, plainJson } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import { readHistory } from "./read-history.ts";
import { rewindSession } from "./rewind-session.ts";
import { savingOf } from "./save.ts";
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
import { sessionOf } from "./session-of.ts";
import { SessionWindows } from "./session-window.ts";
import type { Store } from "./store/store.ts";
import { summaryOf } from "./summarise.ts";
import { finishingOf, type TakeParts, takingOf } from "./take.ts";

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
  readonly #parts: TakeParts & { readonly store: Store };
  readonly #changes: SessionChanges;
  #closing: Promise<void> | undefined;

  constructor({ maxWaiting = 50, cacheBytes = 64_000_000, ...options }: SessionsOptions) {
    const { store, log = silentLogger } = options;
    const cache = new SessionCache(cacheBytes);
    const windows = new SessionWindows(store, cache);
    this.#parts = { store, log, maxWaiting, windows, ownership: new Ownership(options) };
    this.#changes = new SessionChanges(store, cache, windows);
  }

  arrive(): Promise<void> {
    return this.#parts.ownership.arrive();
  }

  async create({ sessionId = randomId(), state = {} }: { sessionId?: string; state?: JsonObject } = {}) {
    this.#check(sessionId);
    const plain = plainJson(state, "state");
    return this.#changes.change<Session>(sessionId, async (control) => {
      if (control) return this.#whole(sessionId, control, defaultMaxBytes);
      const next = newControl(randomId(), plain);
      return { next, result: sessionOf(sessionId, next, []) };
    });
  }

  async get(sessionId: string, { maxBytes = defaultMaxBytes }: LoadOptions = {}): Promise<Session | undefined> {
    this.#check(sessionId);
    return this.#changes.read<Session | undefined>(sessionId, async (control) =>
      control ? this.#whole(sessionId, control, maxBytes) : { result: undefined },
    );
  }

  async save(given: Session, options: { readonly run?: Run; readonly ended?: TurnEnd } = {}): Promise<Session> {
    this.#check(given.sessionId);
    return this.#changes.change(given.sessionId, savingOf(this.#parts, given, options));
  }

  async take(
    sessionId: string,
    input?: Input,
    { maxBytes = defaultMaxBytes, start = true, create = false }: StartOptions & { readonly create?: boolean } = {},
  ): Promise<Taken> {
    this.#check(sessionId);
    const taking = takingOf(this.#parts, input, { sessionId, maxBytes, start, create });
    return this.#parts.ownership.giving(sessionId, (runId) => this.#changes.change(sessionId, taking(runId)));
  }

  async finish(run: Run, { maxBytes = defaultMaxBytes, start = true }: StartOptions = {}): Promise<Run | undefined> {
    const { sessionId } = run.session;
    this.#check(sessionId);
    const finishing = finishingOf(this.#parts, run, { sessionId, maxBytes, start });
    const taken = await this.#parts.ownership.giving(
      sessionId,
      (runId) => this.#changes.change(sessionId, finishing(runId)),
      // Not before: a take that stands before it in the order would find a run of nobody, and show its turn again.
      run.id,
    );
    return taken.outcome === "run" ? taken.run : undefined;
  }

  release({ id }: Run): void {
    this.#parts.ownership.letGo(id);
  }

  async interrupt(sessionId: string): Promise<CoveredInput[]> {
    this.#check(sessionId);
    return this.#changes.change<CoveredInput[]>(sessionId, async (control) =>
      control?.run ? { next: withoutRun(control), result: [...control.run.inputs] } : { result: [] },
    );
  }

  async unfinished(): Promise<string[]> {
    this.#checkOpen();
    return this.#parts.ownership.unfinished();
  }

  onUnfinished(listener: (sessionIds: readonly string[]) => void): void {
    this.#parts.ownership.onUnfinished(listener);
  }

  isPresent(): boolean {
    return this.#parts.ownership.isSure();
  }

  lastBeat(): Date | undefined {
    return this.#parts.ownership.lastBeat;
  }

  async summarise(given: Session, summary: Summary): Promise<boolean> {
    this.#check(given.sessionId);
    return this.#changes.change(given.sessionId, summaryOf(given, summary));
  }

  async reset(sessionId: string): Promise<boolean> {
    this.#check(sessionId);
    const decide = async (control: Control | undefined): Promise<Step<boolean>> => {
      if (!control) return { result: false };
      const remove = await sessionKeys(this.#parts.store, sessionId, control.revision === "");
      return { next: emptied(control, randomId()), remove, forget: true, result: true };
    };
    return this.#changes.change(sessionId, decide, { evenIfDamaged: true });
  }

  async delete(sessionId: string): Promise<boolean> {
    this.#check(sessionId);
    const decide = async (control: Control | undefined): Promise<Step<boolean>> => {
      if (!control) return { result: false };
      const remove = await sessionKeys(this.#parts.store, sessionId, control.revision === "");
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
    return eraseWords(this.#parts.store, this.#changes, ids);
  }

  async rewind(sessionId: string, turn?: string): Promise<Rewound | undefined> {
    this.#check(sessionId);
    return this.#changes.change<Rewound | undefined>(sessionId, async (control) =>
      control ? rewindSession(this.#parts.store, sessionId, control, turn) : { result: undefined },
    );
  }

  async fork(sessionId: string, { sessionId: to = randomId(), turn, places }: ForkOptions = {}): Promise<Session> {
    this.#check(sessionId);
    this.#check(to);
    const lying = places && checkPlaces(places);
    for (let isCopy = false; !isCopy; ) {
      const copied = await this.#changes.change<string>(to, async (existing) => {
        if (existing) throw sessionExists(to);
        const source = await this.#changes.control(sessionId);
        return forkSession(this.#parts.store, sessionId, source, { turn, places: lying });
      });
      // What was erased there on the way must not live on here; of what is erased from now on, `erase` finds this one.
      isCopy = await this.#changes.read(sessionId, async (source) => ({ result: source?.revision === copied }));
      if (!isCopy) await this.delete(to);
    }
    const made = await this.get(to);
    if (made) return made;
    throw sessionNotFound(to);
  }

  async waiting(sessionId: string): Promise<readonly string[]> {
    this.#check(sessionId);
    return this.#changes.read(sessionId, async (control) => ({ result: control?.waiting.map(({ id }) => id) ?? [] }));
  }

  async places(prefix: string): Promise<string[]> {
    this.#checkOpen();
    return placesWith(this.#parts.store, prefix);
  }

  async list(options: ListOptions = {}): Promise<SessionEntry[]> {
    this.#checkOpen();
    return listSessions(this.#parts.store, options);
  }

  history(sessionId: string, options: HistoryOptions = {}): AsyncIterable<SessionEvent> {
    this.#check(sessionId);
    return readHistory(this.#parts.store, this.#changes, sessionId, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#changes.idle().then(() => this.#parts.ownership.leave());
    return this.#closing;
  }

  async #whole(sessionId: string, control: Control, maxBytes: number): Promise<Step<Session> | "moved"> {
    const events = await this.#parts.windows.load(sessionId, control, maxBytes);
    return events ? { result: sessionOf(sessionId, control, events) } : "moved";
  }

  #check(sessionId: string): void {
    this.#checkOpen();
    checkSessionId(sessionId);
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", "the sessions are closed");
  }
}
