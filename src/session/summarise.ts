import { isDeepStrictEqual } from "node:util";
import { checkSummary } from "./check-input.ts";
import { isRevisionOf } from "./control.ts";
import type { Session, Summary } from "./session.ts";
import type { Decision } from "./session-changes.ts";

/** What `SessionManager.summarise` comes to. @throws as that does */
export function summaryOf(given: Session, summary: Summary): Decision<boolean> {
  const checked = checkSummary(given, summary);
  return async (control) => {
    const isNew = control && isRevisionOf(given.version, control) && isDeepStrictEqual(control.summary, given.summary);
    return isNew ? { next: { ...control, summary: checked }, result: true } : { result: false };
  };
}
