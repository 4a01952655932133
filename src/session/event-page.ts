import type { SessionEvent } from "./session-event.ts";
import type { Store } from "./store/store.ts";
import { readEvents, readLarge } from "./stored-events.ts";

/** So many events at a time, wherever more may be wanted than fit in memory. */
export const pageSize = 256;

/** The places from `from` up to `to`, oldest first. */
export function seqsBetween(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/**
 * Events with their large values. `undefined`: the session is at another revision, and what was read of it before is
 * worth nothing.
 * @throws ThreadkeeperError `STORE_CORRUPT` if one is missing or unreadable
 */
export async function wholeEvents(
  store: Store,
  sessionId: string,
  revision: string,
  seqs: readonly number[],
): Promise<SessionEvent[] | undefined> {
  const read = await readEvents(store, sessionId, revision, seqs);
  const whole = read && (await readLarge(store, sessionId, revision, read));
  return whole?.map(({ event }) => event);
}

/** The first `count` events, whole, where all of them have to be in memory at once. `undefined` as above. */
export async function firstEvents(
  store: Store,
  sessionId: string,
  revision: string,
  count: number,
): Promise<SessionEvent[] | undefined> {
  const events: SessionEvent[] = [];
  for (let from = 0; from < count; from += pageSize) {
    const seqs = seqsBetween(from, Math.min(from + pageSize, count));
    const page = await wholeEvents(store, sessionId, revision, seqs);
    if (!page) return undefined;
    events.push(...page);
  }
  return events;
}
