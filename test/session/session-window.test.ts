import type { ModelMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Control, newControl } from "../../src/session/control.ts";
import { SessionCache } from "../../src/session/session-cache.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { controlKey, eventRows, formatRecord } from "../../src/session/session-record.ts";
import { SessionWindows } from "../../src/session/session-window.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { startsTurn } from "../../src/session/turn-start.ts";

const sessionId = "s";

/** A store with these events, and what it was asked for. */
async function filled(events: readonly SessionEvent[], cacheBytes = 0) {
  const store = openMemoryStore();
  const control: Control = { ...newControl("r"), count: events.length };
  const key = controlKey(sessionId);
  const put = new Map(events.flatMap((event) => [...eventRows(sessionId, event)]));
  await store.commit({ key, was: undefined, put: put.set(key, formatRecord(control)) });
  const reads: number[] = [];
  const counting: Store = Object.assign(Object.create(store), {
    get: (keys: readonly string[]) => {
      reads.push(keys.length - 1);
      return store.get(keys);
    },
  });
  const windows = new SessionWindows(counting, new SessionCache(cacheBytes));
  const load = (maxBytes: number) => windows.load(sessionId, control, maxBytes);
  return { load, reads };
}

function numbered(events: readonly { role: "user" | "assistant"; turn: string; text: string }[]): SessionEvent[] {
  return events.map(({ role, turn, text }, seq) => ({
    id: `e${seq}`,
    seq,
    at: "2025-01-01T00:00:00.000Z",
    turn,
    message: { role, content: text } as ModelMessage,
  }));
}

const bytesOf = (event: SessionEvent): number =>
  Array.from(eventRows(sessionId, event).values()).reduce((sum, row) => sum + Buffer.byteLength(row), 0);

describe("the window of a session", () => {
  it("parts turns that got no answer: the newest comes without those that failed before it", async () => {
    const failed = Array.from({ length: 40 }, (_, turn) => ({ role: "user" as const, turn: `t${turn}`, text: "x" }));
    const events = numbered(failed);
    const { load } = await filled(events);
    expect(await load(1)).toEqual(events.slice(-1));
    expect(await load(1_000_000)).toEqual(events);
  });

  it("begins at a turn, is the end of the session, and is the largest that fits", async () => {
    const turns = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean(), fc.nat(200)), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(turns, fc.nat(8_000), async (shapes, maxBytes) => {
        const events = numbered(
          shapes.flatMap(([asked, answered, size], place) => {
            const turn = `t${place}`;
            const words = Array.from({ length: asked }, () => ({
              role: "user" as const,
              turn,
              text: "x".repeat(size),
            }));
            return answered ? [...words, { role: "assistant" as const, turn, text: "y" }] : words;
          }),
        );
        const read = await (await filled(events)).load(maxBytes);
        const starts = events.flatMap((event, place) => (startsTurn(event, events[place - 1]) ? [place] : []));
        const size = (from: number) => events.slice(from).reduce((sum, event) => sum + bytesOf(event), 0);
        const start = starts.find((place) => size(place) <= maxBytes) ?? starts.at(-1) ?? 0;
        expect(read).toEqual(events.slice(start));
      }),
      { numRuns: 60 },
    );
  });

  it("reads a newest turn that is larger than the bound in batches", async () => {
    const events = numbered(
      Array.from({ length: 200 }, (_, place) => ({
        role: place === 0 ? ("user" as const) : ("assistant" as const),
        turn: "t",
        text: "x".repeat(1_000),
      })),
    );
    const { load, reads } = await filled(events);
    expect(await load(10_000)).toEqual(events);
    expect(reads.length).toBeLessThan(10);
  });
});
