import { type LargeValue, putBack } from "./large-values.ts";
import type { SessionEvent } from "./session-event.ts";
import { controlKey, corrupt, deepFreeze, eventKey, largeKey, parseControl, parseEvent } from "./session-record.ts";
import type { Store } from "./store/store.ts";

/** An event as it was read, with what it counts in the store. */
export interface StoredEvent {
  readonly event: SessionEvent;
  /** As stored, its large values among them. */
  readonly bytes: number;
  /** Those that were not read yet: `event` is not whole before they are in it. */
  readonly large: readonly LargeValue[];
}

/**
 * Reads events, but not their large values, in the order asked for. `undefined`: the session is at another revision,
 * so that its control must be read again.
 * @throws ThreadkeeperError `STORE_CORRUPT` if one is missing or unreadable
 */
export async function readEvents(
  store: Store,
  sessionId: string,
  revision: string,
  seqs: readonly number[],
): Promise<StoredEvent[] | undefined> {
  const keys = seqs.map((seq) => eventKey(sessionId, seq));
  const values = await readWith(store, sessionId, revision, keys);
  return values?.map((text, index) => {
    const { event, large } = parseEvent(sessionId, seqs[index] as number, text);
    const bytes = large.reduce((sum, each) => sum + each.bytes, Buffer.byteLength(text as string));
    return { event, bytes, large };
  });
}

/**
 * The same events whole; reads nothing if they are.
 * @throws ThreadkeeperError `STORE_CORRUPT` if a large value is missing or unreadable
 */
export async function readLarge(
  store: Store,
  sessionId: string,
  revision: string,
  events: readonly StoredEvent[],
): Promise<StoredEvent[] | undefined> {
  const keys = events.flatMap(({ event, large }) => large.map((_, n) => largeKey(sessionId, event.seq as number, n)));
  const texts = keys.length === 0 ? [] : await readWith(store, sessionId, revision, keys);
  if (!texts) return undefined;
  return events.map((stored) => {
    const { event, large } = stored;
    if (large.length === 0) return stored;
    const mine = texts.splice(0, large.length);
    const whole = mine.includes(undefined) ? undefined : putBack(event, large, mine as string[]);
    if (whole) return { ...stored, event: deepFreeze(whole), large: [] };
    throw corrupt(
      `a large value of event ${event.seq} of session ${sessionId} is missing or cannot be read`,
      sessionId,
    );
  });
}

/** The control comes along: events are write-once within a revision, so that what belongs together is together. */
async function readWith(
  store: Store,
  sessionId: string,
  revision: string,
  keys: readonly string[],
): Promise<(string | undefined)[] | undefined> {
  const [head, ...values] = await store.get([controlKey(sessionId), ...keys]);
  if (head === undefined || parseControl(sessionId, head.value).revision !== revision) return undefined;
  return values.map((stored) => stored?.value);
}
