import { StaleSessionError, ThreadkeeperError } from "../errors.ts";
import { pageSize, seqsBetween } from "./event-page.ts";
import { placed, type SessionChanges } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import type { HistoryOptions } from "./session-manager.ts";
import type { Store } from "./store/store.ts";
import { readEvents, readLarge } from "./stored-events.ts";

/** One page of events is in memory at a time. Forward, what is said meanwhile comes along. */
export async function* readHistory(
  store: Store,
  changes: SessionChanges,
  sessionId: string,
  options: HistoryOptions,
): AsyncGenerator<SessionEvent, void> {
  try {
    yield* readPages(store, changes, sessionId, options);
  } catch (error) {
    throw placed(error, sessionId, store.description);
  }
}

async function* readPages(
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
  if (direction === "forward") {
    for (let next = from ?? 0; next < count; ) {
      const end = Math.min(next + pageSize, count);
      yield* readPage(store, sessionId, revision, seqsBetween(next, end));
      next = end;
      if (next === count) count = (await changes.control(sessionId)).count;
    }
  } else {
    for (let end = Math.min(count, (from ?? count) + 1); end > 0; end -= pageSize) {
      yield* readPage(store, sessionId, revision, seqsBetween(Math.max(0, end - pageSize), end).reverse());
    }
  }
}

/** What is large is read when its event is wanted: a page of them may be more than memory has. */
async function* readPage(
  store: Store,
  sessionId: string,
  revision: string,
  seqs: readonly number[],
): AsyncGenerator<SessionEvent, void> {
  const stale = () => new StaleSessionError(sessionId, "it was reset, rewound or erased in while it was read");
  const page = await readEvents(store, sessionId, revision, seqs);
  if (!page) throw stale();
  for (const stored of page) {
    const [whole] = (await readLarge(store, sessionId, revision, [stored])) ?? [];
    if (!whole) throw stale();
    yield whole.event;
  }
}
