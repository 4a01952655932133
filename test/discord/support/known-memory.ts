import { vi } from "vitest";
import type { Memory } from "../../../src/conversation/memory.ts";

/** A memory that knows nothing, does nothing, and keeps in mind what was asked of it. */
export function knownMemory(knows: Partial<Memory> = {}) {
  return {
    amend: vi.fn(knows.amend ?? (async () => false)),
    erase: vi.fn(knows.erase ?? (async () => 0)),
    forget: vi.fn(knows.forget ?? (async () => false)),
    forgetPlace: vi.fn(knows.forgetPlace ?? (async () => 0)),
    places: vi.fn(knows.places ?? (async () => [])),
    sessionsIn: vi.fn(knows.sessionsIn ?? (async () => [])),
    heard: vi.fn(knows.heard ?? (async () => ({ waiting: [], said: [], nearby: [] }))),
  } satisfies Memory;
}
