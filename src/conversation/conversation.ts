import type { Inbound, Prepare } from "./inbound.ts";
import type { TurnEvent } from "./turn-event.ts";

export interface Conversation {
  /**
   * Takes the turn's place at once, when it is called, and returns what happens as it is pulled. Pulling past
   * `turn-end` says that it has been drawn. Never throws: a failure is a `turn-failed` or a notice.
   */
  handle(inbound: Inbound, prepare?: Prepare): AsyncIterable<TurnEvent>;
  /** Takes up what waits in a session, if nobody runs. */
  resume(sessionId: string): AsyncIterable<TurnEvent>;
  /**
   * Stops in order: no new turn is taken (a later message yields nothing), runs get `graceMs`, what is left is ended
   * with `RUN_SHUTDOWN`. Resolves when no run is left and their readers have read to the end, or took too long.
   */
  close(graceMs: number): Promise<void>;
}
