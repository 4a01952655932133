import type { Inbound, Prepare } from "./inbound.ts";
import type { Memory } from "./memory.ts";
import type { TurnEvent } from "./turn-event.ts";

export interface Conversation {
  /** What was said, and what becomes of it. */
  readonly memory: Memory;
  /**
   * Takes the turn's place at once, when it is called, and returns what happens as it is pulled. Pulling past
   * `turn-end` says that it has been drawn. Never throws: a failure is a `turn-failed` or a notice. A stop yields its
   * notice, and then the turns of those who waited and whom nobody else here answers.
   */
  handle(inbound: Inbound, prepare?: Prepare): AsyncIterable<TurnEvent>;
  /** Takes up what waits in a session, if nobody runs. */
  resume(sessionId: string): AsyncIterable<TurnEvent>;
  /**
   * Stops in order. No turn begins any more: what waits, and what is still being prepared, is stored for the process
   * that comes after; a message that comes later yields nothing. What goes on gets `graceMs`; what is left then is handed
   * back, and goes on in that process. Resolves when nothing is left and the readers have read to the end, or took too long.
   */
  close(graceMs: number): Promise<void>;
}
