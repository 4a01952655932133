import { ThreadkeeperError } from "../errors.ts";
import type { JsonObject } from "./plain-json.ts";
import type { SessionEvent } from "./session-event.ts";

/** The older part of a conversation in few words. The events themselves stay in the history. */
export interface Summary {
  /** The first event that it does not cover, by `seq`: a user's turn begins there. */
  readonly upTo: number;
  /** Absent if none could be made: then the older part is left out. */
  readonly text?: string;
}

/**
 * A conversation carried across runs. Plain data: a copy by JSON or `structuredClone` is as good as the original.
 * It does not know how it is made, found or stored; that is the `SessionManager`'s.
 */
export interface Session {
  readonly sessionId: string;
  /** The newest part of the conversation, oldest first, beginning at a user's turn. Loaded events are frozen. */
  events: readonly SessionEvent[];
  /** Anything that a task needs to be resumed later. */
  state: JsonObject;
  /** Like an ETag: changes with every save. Empty for a session that was never stored. */
  readonly version: string;
  /** How many older events exist that were not loaded. */
  readonly earlier: number;
  /** What stands for the older events that the model is no longer shown: those below `upTo`. Absent: it is shown all. */
  readonly summary?: Summary;
}

const validId = /^[A-Za-z0-9:._~-]{1,100}$/;

/** @throws ThreadkeeperError `SESSION_ID_INVALID` unless it is 1 to 100 of `A-Z a-z 0-9 : . - _ ~` */
export function checkSessionId(sessionId: string): string {
  if (typeof sessionId === "string" && validId.test(sessionId)) return sessionId;
  throw new ThreadkeeperError(
    "SESSION_ID_INVALID",
    `a session id is 1 to 100 of A-Z a-z 0-9 : . - _ ~, not ${JSON.stringify(sessionId)?.slice(0, 120)}`,
  );
}
