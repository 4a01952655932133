import { StaleSessionError, ThreadkeeperError } from "../errors.ts";
import { checkNewEvents } from "./check-input.ts";
import { type Control, newControl, versionOf, withEnded, withSaved } from "./control.ts";
import type { Ownership } from "./ownership/ownership.ts";
import { plainJson } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import type { Session } from "./session.ts";
import type { Decision } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Run, TurnEnd } from "./session-manager.ts";
import { sessionOf } from "./session-of.ts";
import { deepFreeze } from "./session-record.ts";
import type { Store } from "./store/store.ts";
import { readEvents } from "./stored-events.ts";
import { withProperties } from "./with-properties.ts";

/** What `SessionManager.save` comes to. @throws as that does */
export function savingOf(
  { store, ownership }: { readonly store: Store; readonly ownership: Ownership },
  given: Session,
  { run, ended }: { readonly run?: Run; readonly ended?: TurnEnd },
): Decision<Session> {
  const { sessionId, version } = given;
  const state = plainJson(given.state, "state");
  const end = ended && plainJson(ended, "ended");
  const { known, added } = checkNewEvents(given);
  return async (control) => {
    if (run) checkRun(sessionId, control, run);
    else if (control?.run && !(await ownership.isAbandoned(control.run))) {
      throw new StaleSessionError(sessionId, "a run is working on it");
    }
    const before = control ?? newControl(randomId());
    // Only a run's save may be one that was made already. Any other comes behind all that is there, also behind what it
    // was given without.
    const first = run ? (known.at(-1)?.seq ?? given.earlier - 1) + 1 : before.count;
    const events = added.map((event, index) => deepFreeze(withProperties(event, { seq: first + index })));
    // Nobody but the run adds events, and what others change under it leaves their number as it is.
    const stored = run ? await howManyStored(store, sessionId, before, events, first) : 0;
    if (stored === "moved") return "moved";
    if (stored === undefined || (!run && version !== (control ? versionOf(control) : ""))) {
      throw new StaleSessionError(sessionId, control ? "it changed since it was read" : "it no longer exists");
    }
    const saved = withSaved(before, events.length - stored, state);
    const next = run && end ? withEnded(saved, end) : saved;
    return { next, events: events.slice(stored), result: sessionOf(sessionId, next, [...known, ...events]) };
  };
}

/** How many of a run's new events are in the store already, by a save that could not say so. `undefined`: others are. */
async function howManyStored(
  store: Store,
  sessionId: string,
  control: Control,
  events: readonly SessionEvent[],
  first: number,
): Promise<number | "moved" | undefined> {
  const more = control.count - first;
  if (more < 0 || more > events.length) return undefined;
  if (more === 0) return 0;
  const seqs = events.slice(0, more).map((event) => event.seq as number);
  const stored = await readEvents(store, sessionId, control.revision, seqs);
  if (!stored) return "moved";
  return stored.every(({ event }, index) => event.id === events[index]?.id) ? more : undefined;
}

function checkRun(sessionId: string, control: Control | undefined, run: Run): void {
  if (control?.run?.id === run.id && !run.signal?.aborted) return;
  throw new ThreadkeeperError("RUN_LOST", `run ${run.id} may no longer write to session ${sessionId}`, {
    fields: { sessionId, turn: run.turn },
  });
}
