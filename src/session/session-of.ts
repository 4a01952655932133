import { type Control, versionOf } from "./control.ts";
import { plainJson } from "./plain-json.ts";
import type { Session } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";

/** What others are given of a session. */
export function sessionOf(sessionId: string, control: Control, events: readonly SessionEvent[]): Session {
  const { state, count, summary } = control;
  return {
    sessionId,
    events,
    // The one part of a control that is theirs to change, and what we remember must not change with it.
    state: plainJson(state, "state"),
    version: versionOf(control),
    earlier: events[0]?.seq ?? count,
    ...(summary && { summary }),
  };
}
