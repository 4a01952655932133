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
  readonly events: readonly StoredEvent[];
  /** The largest window that was asked for. */
  readonly maxBytes: number;
}

interface Entry {
  readonly control?: CachedControl | undefined;
  readonly window?: CachedWindow | undefined;
  /** Of the window: counted when it changes, not with every control that is kept beside it. */
  readonly windowBytes?: number;
}

/**
 * What a process remembers of its sessions, so that a turn need not read what the one before it wrote. Bounded in bytes
 * as stored, over all sessions; those that were not used for longest go first. Nothing here is trusted: a control only
 * counts if a commit that is held against its version succeeds.
 */
export class SessionCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  control(sessionId: string): CachedControl | undefined {
    return this.#use(sessionId)?.control;
  }

  window(sessionId: string, revision: string): CachedWindow | undefined {
    const window = this.#use(sessionId)?.window;
    return window?.revision === revision ? window : undefined;
  }

  keepControl(sessionId: string, control: CachedControl | undefined): void {
    this.#keep(sessionId, { ...this.#entries.get(sessionId), control });
  }

  keepWindow(sessionId: string, window: CachedWindow | undefined): void {
    const windowBytes = window?.events.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
    this.#keep(sessionId, { ...this.#entries.get(sessionId), window, windowBytes });
  }

  forget(sessionId: string): void {
    this.#bytes -= sizeOf(this.#entries.get(sessionId));
    this.#entries.delete(sessionId);
  }

  #use(sessionId: string): Entry | undefined {
    const entry = this.#entries.get(sessionId);
    if (!entry) return undefined;
    this.#entries.delete(sessionId);
    this.#entries.set(sessionId, entry);
    return entry;
  }

  #keep(sessionId: string, entry: Entry): void {
    this.forget(sessionId);
    this.#entries.set(sessionId, entry);
    this.#bytes += sizeOf(entry);
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
    }
  }
}

function sizeOf({ control, windowBytes = 0 }: Entry = {}): number {
  return (control?.bytes ?? 0) + windowBytes;
}
