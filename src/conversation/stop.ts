import { ThreadkeeperError } from "../errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Calls } from "./calls.ts";
import type { InboundOf } from "./inbound.ts";
import type { NoticeReason } from "./turn-event.ts";

/** Acts at once. What waits goes on: its turn begins when the stopped one is finished. */
export async function stop(
  sessions: SessionManager,
  calls: Calls,
  { sessionId, author, privileged }: InboundOf<"stop">,
): Promise<NoticeReason> {
  const here = calls.takenIn(sessionId);
  const running = here.find(({ turn }) => turn);
  if (running) {
    const asked = running.turn?.some((input) => input.author?.id === author.id);
    if (!asked && !privileged) return { reason: "not-allowed", what: "stop" };
    running.abort(new ThreadkeeperError("RUN_STOPPED", "somebody stopped the run", { fields: { sessionId } }));
    return { reason: "stopped" };
  }
  // A run that belongs to nobody here, though some here may just have found it: who asked for it is not known, so it
  // takes the right to stop any.
  if (here.some(({ hasRun }) => hasRun) || !privileged) return { reason: "nothing-to-stop" };
  const freed = await sessions.interrupt(sessionId);
  return { reason: freed.length > 0 ? "interrupted" : "nothing-to-stop" };
}
