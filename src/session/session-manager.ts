import type { UserContent } from "ai";
import type { Json, JsonObject } from "./plain-json.ts";
import type { Session, Summary } from "./session.ts";
import type { Author, ContextMessage, SessionEvent } from "./session-event.ts";

/** Something said to a session, as it waits for its turn. Complete in itself: any process can take it up. */
export interface Input {
  /**
   * The platform's id of it. The same id is never answered twice, as far as the last 64 are remembered; of Discord's
   * ids (17 digits and more) all that are not above the highest of the forgotten ones count as known too.
   */
  readonly id: string;
  readonly content: UserContent;
  readonly author?: Author;
  readonly context?: readonly ContextMessage[];
  /** Where the answer goes; opaque here, given back in `turn-start`. */
  readonly replyTo?: Json;
  /**
   * Everything that the session lies in (a channel, a server), so that `list` finds it by them: at most 8, each of 1 to
   * 200 characters. Kept by the session, the newest 8 where it moves about.
   */
  readonly places?: readonly string[];
}

/** How a turn ended, for whoever shows it; made by the agent, opaque here. */
export type TurnEnd = JsonObject;

/** What a run still needs to know of an input after its words have become an event. */
export type CoveredInput = Pick<Input, "id" | "author" | "replyTo">;

/**
 * The right to work on a session. While it is the stored one, its writes stand; reset, stop and take-over remove or
 * replace it, and then every write throws `RUN_LOST`.
 */
export interface Run {
  readonly id: string;
  /** 12 random base-36 characters, made with the run's first write. */
  readonly turn: string;
  /** The inputs that this turn answers, oldest first. Their events are saved already. */
  readonly inputs: readonly CoveredInput[];
  readonly session: Session;
  /** The turn was begun by somebody who is gone: some of it may be saved and shown already. */
  readonly resumed?: true;
  /** The turn is complete in the store; all that may be missing is that it was shown. */
  readonly ended?: TurnEnd;
  /**
   * Aborted with `RUN_LOST` once the run may be another's: it was interrupted or its session reset elsewhere, or this
   * process was not heard of for so long that others may have taken over. Whoever drives the run then ends it silently:
   * it may write no more, and to finish it changes nothing.
   */
  readonly signal?: AbortSignal;
}

/** How a `take` ended. */
export type Taken =
  | { readonly outcome: "run"; readonly run: Run }
  /** Somebody runs, or no run was to be started; the input is stored and will be answered. */
  | { readonly outcome: "waiting" }
  /** This input is known already: answered, being answered, or waiting. */
  | { readonly outcome: "known" }
  /** Too many inputs wait; this one was not stored. */
  | { readonly outcome: "full"; readonly limit: number }
  /** No input was given and nothing waits, or somebody runs. */
  | { readonly outcome: "idle" };

export interface LoadOptions {
  /**
   * The newest events within this many bytes as stored, cut at a user's turn; the newest turn comes whole even if it
   * alone is larger. Default 262,144.
   */
  readonly maxBytes?: number;
}

export interface StartOptions extends LoadOptions {
  /** `false`: no run is started, and what waits waits on, for whoever takes the session up next. Default `true`. */
  readonly start?: boolean;
}

export interface ListOptions {
  /** Only sessions that lie in this place. */
  readonly place?: string;
  /** Only sessions in which the person with this id said something, also what was erased or taken back since. */
  readonly user?: string;
  /** Only sessions in which something was said since then, by the hour. */
  readonly activeSince?: Date;
  /** Only sessions whose ids come after this one in code-unit order: the last of the page before. */
  readonly after?: string;
  /** Default 1000. */
  readonly limit?: number;
}

export interface SessionEntry {
  readonly sessionId: string;
  /** When something was last said in it, by the hour, ISO 8601 in UTC. Absent: never, or its record is damaged. */
  readonly active?: string;
}

export interface HistoryOptions {
  /** Default `"forward"`: oldest first. */
  readonly direction?: "forward" | "backward";
  /** The first event to give, by `seq`. Default: the oldest, or the newest. */
  readonly from?: number;
}

/** A turn that was taken back. */
export interface Rewound {
  readonly turn: string;
  /** The ids of the inputs that went, those of later turns too, oldest first. */
  readonly inputs: readonly string[];
}

export interface ForkOptions {
  /** Default: a random one. */
  readonly sessionId?: string;
  /** The last turn to copy. Default: the newest. */
  readonly turn?: string;
  /** What the copy lies in. Default: where the original does. */
  readonly places?: readonly string[];
}

/** Who makes, finds and saves sessions. Changing the storage changes nothing outside of it. */
export interface SessionManager {
  /** Insert-if-absent: an existing session is returned as it is. Without an id a random one is made. */
  create(options?: { readonly sessionId?: string; readonly state?: JsonObject }): Promise<Session>;
  /** `undefined` only if it does not exist; what cannot be read throws. */
  get(sessionId: string, options?: LoadOptions): Promise<Session | undefined>;
  /**
   * Stores the events that have no `seq` yet, and `state`, in one commit. Returns the session as saved.
   *
   * The session must be unchanged since it was read (else `StaleSessionError`); inputs that came to wait don't change
   * it. With `run`, the write stands if the run is still the stored one (else `RUN_LOST`), and `ended` marks its turn
   * as complete in the same commit. Without one, nobody may be running on it (else `StaleSessionError`), and `ended`
   * says nothing.
   * @throws ThreadkeeperError `NOT_PLAIN_JSON`, `INPUT_INVALID` for an event that is none, or whose id one of the
   * session's loaded events has
   */
  save(session: Session, options?: { readonly run?: Run; readonly ended?: TurnEnd }): Promise<Session>;
  /**
   * The one door to a turn. In one commit: ignores an input already known, else adds it to what waits, and, if nobody
   * runs, starts a run with all that waits, whose events are saved by that same commit. A run whose owner is gone is
   * taken over as it is (`resumed`): its turn goes on under the same name with its own inputs, and if it was complete
   * (`ended`) it has only to be shown; what came since waits for the next one.
   * @throws ThreadkeeperError `SESSION_NOT_FOUND` unless `create` is set, `NOT_PLAIN_JSON`, and `INPUT_INVALID` for an
   * input that is none or has more than 1,000,000 bytes as JSON
   */
  take(sessionId: string, input?: Input, options?: StartOptions & { readonly create?: boolean }): Promise<Taken>;
  /**
   * Ends a run. What came meanwhile makes the next run, which is returned; a run that was lost ends silently
   * (`undefined`). No wake-up is lost: both are one commit.
   */
  finish(run: Run, options?: StartOptions): Promise<Run | undefined>;
  /** Lets go of a run without ending it: whoever takes the session up next goes on with its turn. */
  release(run: Run): void;
  /** Takes the stored run away, whoever owns it, so that its later writes are refused; what waits, waits on. */
  interrupt(sessionId: string): Promise<CoveredInput[]>;
  /**
   * The sessions that somebody must take up (`take` without an input): they have a run whose owner is gone, or inputs
   * that wait and no run. At most the first 1000 that are nobody's. For the start of a process.
   */
  unfinished(): Promise<string[]>;
  /** The ids of the inputs that wait in a session for their turn, oldest first; none if there is no such session. */
  waiting(sessionId: string): Promise<readonly string[]>;
  /**
   * From now on `listener` is told, after every beat of this process, which sessions somebody must take up: those of
   * a process that died or said goodbye while this one is there. Told again, ever more rarely, while it stays so.
   */
  onUnfinished(listener: (sessionIds: readonly string[]) => void): void;
  /**
   * Whether the runs that this process was given are surely still its own. For whoever shows something, just before
   * it does: after a suspension or an outage of the store others may have gone on with what is still under way here.
   */
  isPresent(): boolean;
  /**
   * When, before this process arrived, a process of this store was last there and listening, to a quarter of the
   * take-over time and by its own wall clock. `undefined`: never, the store is new.
   */
  lastBeat(): Date | undefined;
  /**
   * Puts other words in the place of an input's that still waits. `false`: it does not wait (any more, or never did).
   * @throws ThreadkeeperError as `take` does for an input
   */
  amend(sessionId: string, input: Pick<Input, "id" | "content">): Promise<boolean>;
  /**
   * Takes what people said out of every session that holds it: the inputs and context messages with these ids, whether
   * they wait or are events, and a summary that may tell of them. An event of theirs keeps its place and turn, but has
   * no words and no author any more (`erased`); what other events quote is theirs. A run that is going on goes on, and
   * what was handled stays known. One commit a session; returns the sessions that were changed.
   * @throws ThreadkeeperError the first error, when all other sessions are done
   */
  erase(ids: readonly string[]): Promise<string[]>;
  /**
   * Takes back a turn and all after it, the run too; without `turn` the last one. What was handled stays known, what
   * waits waits on, and the state stays as it is. `undefined`: there is no such turn, or no such session.
   */
  rewind(sessionId: string, turn?: string): Promise<Rewound | undefined>;
  /**
   * Makes another session with a copy of the events of this one, up to and with `turn`, and of its state. What this one
   * handled counts as known there too; what waits and the run stay here. One commit, so that the copy passes through
   * memory as a whole.
   * @throws ThreadkeeperError `SESSION_NOT_FOUND` (also for the turn), `SESSION_EXISTS`, `INPUT_INVALID` for places
   */
  fork(sessionId: string, to?: ForkOptions): Promise<Session>;
  /**
   * Replaces what the model is shown of the older part, in one commit that disturbs no run. `false`: the session was
   * summarised, reset, rewound or erased in since `session` was read, and nothing was changed.
   * @throws ThreadkeeperError `INPUT_INVALID` unless `upTo` is one of the session's loaded events at which a turn begins,
   * and not before the one that `session` has; for a text over 16,384 bytes
   */
  summarise(session: Session, summary: Summary): Promise<boolean>;
  /** A page of the sessions there are, in the order of their ids. */
  list(options?: ListOptions): Promise<SessionEntry[]>;
  /** The places in which sessions lie and whose names begin so, in order. Names over 100 characters are not among them. */
  places(prefix: string): Promise<string[]>;
  /**
   * All events, erased ones too, read lazily, page by page. Forward, what is said meanwhile comes along.
   * @throws ThreadkeeperError `SESSION_NOT_FOUND`, `STORE_CORRUPT`; `StaleSessionError` if it was reset, rewound or
   * erased in meanwhile
   */
  history(sessionId: string, options?: HistoryOptions): AsyncIterable<SessionEvent>;
  /**
   * Forgets the conversation, also if it cannot be read: events, state, what waits and the run. What was handled stays
   * known, and where it lies, if that could be read. `false`: no such session.
   */
  reset(sessionId: string): Promise<boolean>;
  /** Forgets that it ever existed, also if it cannot be read. `false`: no such session. */
  delete(sessionId: string): Promise<boolean>;
  /**
   * Lets what was begun end and says goodbye: whoever finds a run of ours then takes it over. Later calls throw
   * `STORE_CLOSED`. The store stays open: it is closed by who opened it.
   */
  close(): Promise<void>;
}
