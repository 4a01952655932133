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
  if (!session?.events.length) return { reason: "nothing-to-fork" };
  const opened = await open();
  await sessions.fork(sessionId, { places, ...(opened.sessionId !== undefined && { sessionId: opened.sessionId }) });
  return { reason: "forked", to: opened.replyTo ?? replyTo };
}
