import type { SessionEvent } from "./session-event.ts";

/**
 * Whether a turn begins at `event`, which stands after `before`: at the first of the user's words in it. The one rule
 * by which a conversation may be cut. It goes by the turn and not by who spoke last, since a turn that failed leaves
 * only the user's words, and the next one must be readable without them.
 */
export function startsTurn(event: SessionEvent, before: SessionEvent | undefined): boolean {
  return event.message.role === "user" && event.turn !== before?.turn;
}
