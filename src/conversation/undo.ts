import { ThreadkeeperError } from "../errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Calls } from "./calls.ts";
import type { InboundOf } from "./inbound.ts";
import type { NoticeReason } from "./turn-event.ts";

/**
 * Takes the last turn back, also one in progress. The store forgets first, so that nothing which the run still writes
 * is taken. Resolves when nothing more of the turn will be drawn by this process.
 */
export async function undo(
  sessions: Pick<SessionManager, "rewind">,
  calls: Pick<Calls, "takenIn">,
  { sessionId, privileged }: InboundOf<"undo">,
): Promise<NoticeReason> {
  if (!privileged) return { reason: "not-allowed", what: "undo" };
  const rewound = await sessions.rewind(sessionId);
  if (!rewound) return { reason: "nothing-to-undo" };
  const { inputs } = rewound;
  const atWork = calls.takenIn(sessionId).filter(({ turn }) => turn?.some(({ id }) => inputs.includes(id)));
  for (const call of atWork) {
    call.abort(new ThreadkeeperError("RUN_LOST", "the turn was taken back", { fields: { sessionId } }));
  }
  await Promise.all(atWork.map(({ done }) => done));
  return { reason: "undone", inputs };
}
