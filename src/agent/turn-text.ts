import type { SessionEvent } from "../session/session-event.ts";

/** Stands between the texts of two steps. */
export const parting = "\n\n";

/**
 * What the assistant said in a turn, as far as it is stored: the texts of its steps put together as they were shown,
 * and how many steps there were.
 */
export function storedText(events: readonly SessionEvent[], turn: string): { text: string; steps: number } {
  const steps = events.flatMap((event) => (event.turn === turn ? textOf(event) : []));
  return { text: steps.filter((text) => text !== "").join(parting), steps: steps.length };
}

function textOf({ message }: SessionEvent): string[] {
  if (message.role !== "assistant") return [];
  if (typeof message.content === "string") return [message.content];
  return [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")];
}
