import type { SessionManager } from "../session/session-manager.ts";
import type { InboundOf, Prepared } from "./inbound.ts";
import type { NoticeReason } from "./turn-event.ts";

/**
 * Begins another session with this one's memory.
 * @param open makes the place of it, and names it; called only if there is something to remember
 */
export async function fork(
  sessions: Pick<SessionManager, "get" | "fork">,
  { sessionId, privileged, places, replyTo }: InboundOf<"fork">,
  open: () => Promise<Prepared>,
): Promise<NoticeReason> {
  if (!privileged) return { reason: "not-allowed", what: "fork" };
  const session = await sessions.get(sessionId, { maxBytes: 1 });
  const turn = session?.events.at(-1)?.turn;
  if (turn === undefined) return { reason: "nothing-to-fork" };
  const opened = await open();
  // What is said here from now on is younger than the new place, where it would be looked for and taken for deleted.
  const to = opened.sessionId === undefined ? {} : { sessionId: opened.sessionId };
  await sessions.fork(sessionId, { turn, places, ...to });
  return { reason: "forked", to: opened.replyTo ?? replyTo };
}
