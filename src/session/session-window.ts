import type { Control } from "./control.ts";
import { bytesOf, type CachedWindow, type SessionCache } from "./session-cache.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Store } from "./store/store.ts";
import { readEvents, readLarge, type StoredEvent } from "./stored-events.ts";
import { startsTurn } from "./turn-start.ts";

const firstBatch = 32;
const largestBatch = 512;

/** The window is of events `first` to `count`, and of those the newest within so many bytes. */
interface Bounds {
  readonly first: number;
  readonly count: number;
  readonly maxBytes: number;
}

/** The newest events of sessions. What was read or written here before is not read again. */
export class SessionWindows {
  readonly #store: Store;
  readonly #cache: SessionCache;

  constructor(store: Store, cache: SessionCache) {
    this.#store = store;
    this.#cache = cache;
  }

  /**
   * The newest events within so many bytes as stored, oldest first, beginning at a user's turn: at the first of the
   * user's words, never between a call and its result. The newest turn comes whole even if it alone is larger. What a
   * summary covers is left out. `undefined`: the session moved meanwhile, so that `control` must be read again.
   * @throws ThreadkeeperError `STORE_CORRUPT` if an event is missing or unreadable
   */
  async load(sessionId: string, control: Control, maxBytes: number): Promise<readonly SessionEvent[] | undefined> {
    const { count, revision, summary } = control;
    const first = Math.min(summary?.upTo ?? 0, count);
    const bounds = { first, count, maxBytes };
    return this.#known(sessionId, revision, bounds) ?? this.#read(sessionId, revision, bounds);
  }

  /** What is known holds the whole window, as it does for all turns of a session but the first: no list is made of more. */
  #known(sessionId: string, revision: string, bounds: Bounds): readonly SessionEvent[] | undefined {
    const known = this.#cache.window(sessionId, revision);
    const start = known && startWithin(known, bounds);
    if (!known || start === undefined) return undefined;
    const window = known.events.slice(start);
    if (window.some(({ large }) => large.length > 0)) return undefined;
    const { first, maxBytes } = bounds;
    // What no longer fits goes when it has doubled: to look for it every time would cost as much as to read it.
    if (maxBytes > known.maxBytes || known.events.length > 2 * known.kept) {
      this.#keep(sessionId, { ...known, maxBytes }, known.from + start, first);
    }
    return window.map(({ event }) => event);
  }

  async #read(sessionId: string, revision: string, bounds: Bounds): Promise<readonly SessionEvent[] | undefined> {
    const { first, count, maxBytes } = bounds;
    let looked: StoredEvent[] = [];
    let from = count;
    let batch = firstBatch;
    let start = startWithin({ from, events: looked }, bounds);
    while (start === undefined) {
      const chunk = await this.#before(sessionId, revision, { first, end: from, batch });
      if (!chunk) return undefined;
      looked = [...chunk, ...looked];
      from -= chunk.length;
      start = startWithin({ from, events: looked }, bounds);
      const bytes = bytesOf(looked);
      const least = bytes > maxBytes ? firstBatch : 1;
      batch = Math.min(largestBatch, Math.max(least, Math.ceil((maxBytes - bytes) / (bytes / looked.length)) + 1));
    }
    const window = await readLarge(this.#store, sessionId, revision, looked.slice(start));
    if (!window) return undefined;
    // What did not fit is kept as well: it tells that nothing more does.
    const events = [...looked.slice(0, start), ...window];
    this.#keep(sessionId, { revision, from, events, maxBytes }, from + start, first);
    return window.map(({ event }) => event);
  }

  /** What our own commit has put behind the events of `before`. */
  extend(sessionId: string, before: Control | undefined, next: Control, added: readonly StoredEvent[]): void {
    const { revision } = next;
    const count = before?.revision === revision ? before.count : 0;
    const known = this.#cache.window(sessionId, revision);
    if (!known) this.#cache.keepWindow(sessionId, { revision, from: count, events: [...added], maxBytes: 0 });
    else if (known.from + known.events.length === count) this.#cache.append(sessionId, added);
  }

  /** Some events that end before `end`: all that are known, or else a batch that is read. */
  async #before(
    sessionId: string,
    revision: string,
    { first, end, batch }: { readonly first: number; readonly end: number; readonly batch: number },
  ): Promise<StoredEvent[] | undefined> {
    const known = this.#cache.window(sessionId, revision);
    const knownEnd = known ? known.from + known.events.length : 0;
    if (known && known.from < end && end <= knownEnd) {
      return known.events.slice(Math.max(0, first - known.from), end - known.from);
    }
    const from = Math.max(first, end - batch, knownEnd < end ? knownEnd : 0);
    const seqs = Array.from({ length: end - from }, (_, index) => from + index);
    return readEvents(this.#store, sessionId, revision, seqs);
  }

  #keep(sessionId: string, read: CachedWindow, start: number, first: number): void {
    const all = joined(this.#cache.window(sessionId, read.revision), read);
    // A window only begins later with every turn, so that what no longer fits need not be kept.
    let bytes = 0;
    let keep = all.events.length;
    while (keep > 0 && all.from + keep > first && (bytes <= all.maxBytes || all.from + keep > start)) {
      bytes += all.events[--keep]?.bytes ?? 0;
    }
    this.#cache.keepWindow(sessionId, { ...all, from: all.from + keep, events: all.events.slice(keep) });
  }
}

/** Where in `known` the window begins. `undefined`: what is known doesn't reach that far, or not to the session's end. */
function startWithin(
  { from, events }: Pick<CachedWindow, "from" | "events">,
  { first, count, maxBytes }: Bounds,
): number | undefined {
  if (from + events.length !== count) return undefined;
  const end = Math.max(0, first - from);
  let bytes = 0;
  let cut: number | undefined;
  let newer: StoredEvent | undefined;
  for (let index = events.length - 1; index >= end; index -= 1) {
    const stored = events[index] as StoredEvent;
    if (newer && startsTurn(newer.event, stored.event)) cut = index + 1;
    bytes += stored.bytes;
    if (bytes > maxBytes && cut !== undefined) return cut;
    newer = stored;
  }
  return from <= first ? end : undefined;
}

/** Both, if there is no gap between them; else the newer one, which is what the next turn begins with. */
function joined(known: CachedWindow | undefined, read: CachedWindow): CachedWindow {
  if (!known) return read;
  const maxBytes = Math.max(known.maxBytes, read.maxBytes);
  const [older, newer] = known.from <= read.from ? [known, read] : [read, known];
  const offset = newer.from - older.from;
  if (offset > older.events.length) return { ...newer, maxBytes };
  const events = [...older.events];
  // Of an event that is in both, one may be whole.
  for (const [index, each] of newer.events.entries()) {
    if (!events[offset + index] || each.large.length === 0) events[offset + index] = each;
  }
  return { ...older, events, maxBytes };
}
