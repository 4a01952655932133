import { StaleSessionError, ThreadkeeperError } from "../errors.ts";
import { pageSize, seqsBetween, wholeEvents } from "./event-page.ts";
import type { SessionChanges } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import type { HistoryOptions } from "./session-manager.ts";
import type { Store } from "./store/store.ts";

/** One page of events is in memory at a time. Forward, what is said meanwhile comes along. */
export async function* readHistory(
  store: Store,
  changes: SessionChanges,
  sessionId: string,
  { direction = "forward", from }: HistoryOptions,
): AsyncGenerator<SessionEvent, void> {
  if (from !== undefined && !(Number.isSafeInteger(from) && from >= 0)) {
    throw new ThreadkeeperError("INPUT_INVALID", `a place in a history is a whole number from 0, not ${from}`, {
      fields: { path: "from" },
    });
  }
  const { revision, ...start } = await changes.control(sessionId);
  let { count } = start;
  const page = async (seqs: readonly number[]): Promise<readonly SessionEvent[]> => {
    const events = await wholeEvents(store, sessionId, revision, seqs);
    if (events) return events;
    throw new StaleSessionError(sessionId, "it was reset, rewound or erased in while it was read");
  };
  if (direction === "forward") {
    for (let next = from ?? 0; next < count; ) {
      const end = Math.min(next + pageSize, count);
      yield* await page(seqsBetween(next, end));
      next = end;
      if (next === count) count = (await changes.control(sessionId)).count;
    }
  } else {
    for (let end = Math.min(count, (from ?? count) + 1); end > 0; end -= pageSize) {
      yield* await page(seqsBetween(Math.max(0, end - pageSize), end).reverse());
    }
  }
}
