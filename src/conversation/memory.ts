import type { Inbound, InboundOf } from "./inbound.ts";

/** Other words for a message, as the platform tells of an edit. */
export interface Amendment extends Pick<InboundOf<"message">, "id" | "text" | "attachments"> {
  /** The sessions that the message can be in. */
  readonly sessionIds: readonly string[];
}

/**
 * What becomes of things that were said before, and what is known of them. Nothing here is shown to anybody. All throw
 * what the store throws.
 */
export interface Memory {
  /** Replaces what a message says whose turn has not begun. `false`: it has, or nothing is known of the message. */
  amend(amendment: Amendment): Promise<boolean>;
  /**
   * Takes messages out, by their ids: one that is still being prepared gets no turn, one that waits or stands in a
   * session is erased. A turn that goes on with it goes on. Resolves to how many sessions were changed.
   */
  erase(ids: readonly string[]): Promise<number>;
  /** Forgets that a session ever existed; what goes on in it ends silently. `false`: there was none. */
  forget(sessionId: string): Promise<boolean>;
  /** The same for every session that lies in a place. Resolves to how many there were. */
  forgetPlace(place: string): Promise<number>;
  /** The places whose names begin so and in which sessions lie. */
  places(prefix: string): Promise<readonly string[]>;
  /** The sessions in a place in which something was said since then. */
  sessionsIn(place: Inbound["places"][number], activeSince: Date): Promise<readonly string[]>;
  /** What is known of the newest part of a session. */
  heard(sessionId: string): Promise<Heard>;
}

/** Ids of messages, the newest first. */
export interface Heard {
  /** What people said to it and what has not begun to be answered. */
  readonly waiting: readonly string[];
  /** What else people said to it. */
  readonly said: readonly string[];
  /** What was said around it. */
  readonly nearby: readonly string[];
}
