import type { Control } from "./control.ts";
import type { StoredEvent } from "./stored-events.ts";

/** A control record as it stood in the store when we last read or wrote it, and what a commit can hold it against. */
export interface CachedControl {
  readonly control: Control;
  readonly version: string;
  /** As stored. */
  readonly bytes: number;
}

/** Events of one revision without a gap, the first of them at `from`. They are write-once, so that they stay true. */
export interface CachedWindow {
  readonly revision: string;
  readonly from: number;
  /** The cache's own list once it keeps it, which grows by `append`: not to be held across an `await`. */
  readonly events: readonly StoredEvent[];
  /** The largest window that was asked for. */
  readonly maxBytes: number;
}

/** As it was kept, and what came behind it since. */
export interface GrownWindow extends CachedWindow {
  /** How many events it had when it was kept. */
  readonly kept: number;
}

interface Entry {
  readonly control: CachedControl | undefined;
  readonly window: GrownWindow | undefined;
  /** Of the window: counted once for each of its events. */
  readonly windowBytes: number;
}

const nothing: Entry = { control: undefined, window: undefined, windowBytes: 0 };

/**
 * What a process remembers of its sessions, so that a turn need not read what the one before it wrote. Bounded in bytes
 * as stored, over all sessions; those that were not used for longest go first. Nothing here is trusted: a control only
 * counts if a commit that is held against its version succeeds.
 */
export class SessionCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  /** Which of them stands last, so that it need not be put there again. */
  #newest: string | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  control(sessionId: string): CachedControl | undefined {
    return this.#use(sessionId)?.control;
  }

  window(sessionId: string, revision: string): GrownWindow | undefined {
    const window = this.#use(sessionId)?.window;
    return window?.revision === revision ? window : undefined;
  }

  keepControl(sessionId: string, control: CachedControl | undefined): void {
    const { window, windowBytes } = this.#entries.get(sessionId) ?? nothing;
    this.#keep(sessionId, { control, window, windowBytes });
  }

  keepWindow(sessionId: string, { revision, from, events, maxBytes }: CachedWindow): void {
    const { control } = this.#entries.get(sessionId) ?? nothing;
    const window = { revision, from, events, maxBytes, kept: events.length };
    this.#keep(sessionId, { control, window, windowBytes: bytesOf(events) });
  }

  /** Behind the window that is kept, at a cost that does not grow with it. */
  append(sessionId: string, added: readonly StoredEvent[]): void {
    const { control, window, windowBytes } = this.#entries.get(sessionId) ?? nothing;
    if (!window) return;
    // One by one: a call takes no more than some 120,000 arguments.
    for (const each of added) (window.events as StoredEvent[]).push(each);
    this.#keep(sessionId, { control, window, windowBytes: windowBytes + bytesOf(added) });
  }

  forget(sessionId: string): void {
    this.#bytes -= sizeOf(this.#entries.get(sessionId));
    this.#entries.delete(sessionId);
  }

  #use(sessionId: string): Entry | undefined {
    const entry = this.#entries.get(sessionId);
    if (entry) this.#putLast(sessionId, entry);
    return entry;
  }

  #keep(sessionId: string, entry: Entry): void {
    this.#bytes += sizeOf(entry) - sizeOf(this.#entries.get(sessionId));
    this.#putLast(sessionId, entry);
    if (this.#bytes > this.#maxBytes) this.#shrink();
  }

  #putLast(sessionId: string, entry: Entry): void {
    if (sessionId !== this.#newest) this.#entries.delete(sessionId);
    this.#entries.set(sessionId, entry);
    this.#newest = sessionId;
  }

  #shrink(): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
    }
  }
}

function sizeOf({ control, windowBytes }: Entry = nothing): number {
  return (control?.bytes ?? 0) + windowBytes;
}

export function bytesOf(events: readonly StoredEvent[]): number {
  return events.reduce((sum, { bytes }) => sum + bytes, 0);
}
