import { ThreadkeeperError } from "../errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Calls } from "./calls.ts";
import type { InboundOf } from "./inbound.ts";
import type { NoticeReason } from "./turn-event.ts";

/** Acts at once. The store forgets first, so that nothing which the run still writes is taken. */
export async function reset(
  sessions: SessionManager,
  calls: Calls,
  { sessionId, privileged }: InboundOf<"reset">,
): Promise<NoticeReason> {
  if (!privileged) return { reason: "not-allowed", what: "reset" };
  const existed = await sessions.reset(sessionId);
  for (const call of calls.takenIn(sessionId)) {
    call.abort(new ThreadkeeperError("RUN_LOST", "the session was reset", { fields: { sessionId } }));
  }
  return { reason: existed ? "forgotten" : "nothing-to-forget" };
}
