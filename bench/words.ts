import type { SessionEvent } from "../src/session/session-event.ts";

/** A message of 400 bytes, as people write them and as models answer. */
export const words = "A message of about four hundred bytes, as people write them. ".repeat(7).slice(0, 400);

/** How many events a turn reads again before it goes on, in every mechanism but the one that reads all. */
export const windowEvents = 50;

export type Role = "user" | "assistant";

export function event(id: string, turn: string, role: Role): SessionEvent {
  return { id, at: new Date().toISOString(), turn, message: { role, content: words } };
}

export const sessionName = (session: number): string => `bench-${session}`;
