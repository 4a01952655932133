import { sessionNotFound } from "../errors.ts";
import { type Control, forked } from "./control.ts";
import { pageSize, seqsBetween, wholeEvents } from "./event-page.ts";
import { findTurn } from "./find-turn.ts";
import { randomId } from "./random-id.ts";
import type { Step } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Store } from "./store/store.ts";

/**
 * What a fork begins with: all in one commit, so that there is never half of it.
 * @throws ThreadkeeperError `SESSION_NOT_FOUND` for the turn
 */
export async function forkSession(
  store: Store,
  sessionId: string,
  control: Control,
  { turn, places }: { readonly turn?: string | undefined; readonly places?: readonly string[] | undefined },
): Promise<Step<void> | "moved"> {
  const place = turn === undefined ? { to: control.count } : await findTurn(store, sessionId, control, turn);
  if (place === "moved") return "moved";
  if (!place) throw sessionNotFound(sessionId, `turn ${turn} is not in session ${sessionId}`);
  const events: SessionEvent[] = [];
  for (let from = 0; from < place.to; from += pageSize) {
    const page = await wholeEvents(
      store,
      sessionId,
      control.revision,
      seqsBetween(from, Math.min(from + pageSize, place.to)),
    );
    if (!page) return "moved";
    events.push(...page);
  }
  const next = forked(control, place.to, randomId(), places ?? control.places ?? []);
  return { next, events, result: undefined };
}
