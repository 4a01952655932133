import type { Control } from "./control.ts";
import type { SessionEvent } from "./session-event.ts";
import { controlKey, eventKey, parseControl, parseEvent } from "./session-record.ts";
import type { Store } from "./store/store.ts";
import { startsTurn } from "./turn-start.ts";

const firstBatch = 32;
const largestBatch = 512;

/**
 * The newest events of a session within so many bytes as stored, oldest first, beginning at a user's turn: at the
 * first of the user's words, never between a call and its result. The newest turn comes whole even if it alone is
 * larger. `undefined`: the session moved meanwhile, so that `control` must be read again.
 * @throws ThreadkeeperError `STORE_CORRUPT` if an event is missing or unreadable
 */
export async function loadWindow(
  store: Store,
  sessionId: string,
  control: Control,
  maxBytes: number,
): Promise<readonly SessionEvent[] | undefined> {
  const newestFirst: SessionEvent[] = [];
  let bytes = 0;
  /** How many of `newestFirst` make the largest window so far that begins at a user's turn. */
  let cut = 0;
  let seq = control.count;
  let batch = firstBatch;
  while (seq > 0) {
    const from = Math.max(0, seq - batch);
    const seqs = Array.from({ length: seq - from }, (_, index) => seq - 1 - index);
    // The control comes along: events are write-once within a revision, so all that belongs together is together.
    const [head, ...values] = await store.get([
      controlKey(sessionId),
      ...seqs.map((each) => eventKey(sessionId, each)),
    ]);
    if (head === undefined || parseControl(sessionId, head.value).revision !== control.revision) return undefined;
    for (const [index, each] of seqs.entries()) {
      const text = values[index]?.value;
      const event = parseEvent(sessionId, each, text);
      const newer = newestFirst.at(-1);
      if (newer && startsTurn(newer, event)) cut = newestFirst.length;
      bytes += Buffer.byteLength(text as string);
      if (bytes > maxBytes && cut > 0) return newestFirst.slice(0, cut).reverse();
      newestFirst.push(event);
    }
    seq = from;
    const average = bytes / newestFirst.length;
    const least = cut > 0 ? 1 : firstBatch;
    batch = Math.min(largestBatch, Math.max(least, Math.ceil((maxBytes - bytes) / average) + 1));
  }
  return newestFirst.reverse();
}
