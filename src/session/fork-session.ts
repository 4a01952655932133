import { sessionNotFound } from "../errors.ts";
import { type Control, forked } from "./control.ts";
import { firstEvents } from "./event-page.ts";
import { findTurn } from "./find-turn.ts";
import { randomId } from "./random-id.ts";
import type { Step } from "./session-changes.ts";
import type { Store } from "./store/store.ts";

/**
 * What a fork begins with, and the revision that it is a copy of: all in one commit, so that there is never half of it.
 * @throws ThreadkeeperError `SESSION_NOT_FOUND` for the turn
 */
export async function forkSession(
  store: Store,
  sessionId: string,
  control: Control,
  { turn, places }: { readonly turn?: string | undefined; readonly places?: readonly string[] | undefined },
): Promise<Step<string> | "moved"> {
  const place = turn === undefined ? { to: control.count } : await findTurn(store, sessionId, control, turn);
  if (place === "moved") return "moved";
  if (!place) throw sessionNotFound(sessionId, `turn ${turn} is not in session ${sessionId}`);
  const events = await firstEvents(store, sessionId, control.revision, place.to);
  if (!events) return "moved";
  const next = forked(control, place.to, randomId(), places ?? control.places ?? []);
  return { next, events, result: control.revision };
}
