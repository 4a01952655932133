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

/** A session that grows by a turn at a time, here or by another process, and one memory of it. */
class Growing {
  readonly reads: (readonly string[])[] = [];
  readonly events: SessionEvent[] = [];
  control: Control = newControl("r");
  readonly #store = openMemoryStore();
  readonly #windows: SessionWindows;
  #version: string | undefined;

  constructor(cacheBytes: number) {
    const { reads } = this;
    const store = this.#store;
    const counting: Store = Object.assign(Object.create(store), {
      get: (keys: readonly string[]) => {
        reads.push(keys);
        return store.get(keys);
      },
    });
    this.#windows = new SessionWindows(counting, new SessionCache(cacheBytes));
  }

  async grow(sizes: readonly number[], isOurs: boolean): Promise<void> {
    const { length } = this.events;
    const added = sizes.map(
      (size, index): SessionEvent => ({
        id: `e${length + index}`,
        seq: length + index,
        at: "now",
        turn: `t${length}`,
        message: { role: index === 0 ? "user" : "assistant", content: "x".repeat(size) },
      }),
    );
    this.events.push(...added);
    const before = this.control;
    await this.#move({ ...before, count: this.events.length }, added);
    const stored = added.map((event) => ({ event, bytes: bytesOf(event), large: [] }));
    if (isOurs) this.#windows.extend(sessionId, before, this.control, stored);
  }

  async summarise(share: number): Promise<void> {
    const upTo = this.events.findIndex(
      (event, seq) => seq >= share * this.events.length && event.message.role === "user",
    );
    if (upTo > (this.control.summary?.upTo ?? 0)) await this.#move({ ...this.control, summary: { upTo } }, []);
  }

  load(maxBytes: number) {
    this.reads.length = 0;
    return this.#windows.load(sessionId, this.control, maxBytes);
  }

  expected(maxBytes: number): SessionEvent[] {
    const shown = this.events.slice(this.control.summary?.upTo ?? 0);
    const starts = shown.flatMap((event, place) => (startsTurn(event, shown[place - 1]) ? [place] : []));
    const size = (from: number) => shown.slice(from).reduce((sum, event) => sum + bytesOf(event), 0);
    return shown.slice(starts.find((place) => size(place) <= maxBytes) ?? starts.at(-1) ?? 0);
  }

  async #move(control: Control, added: readonly SessionEvent[]): Promise<void> {
    const key = controlKey(sessionId);
    const put = new Map(added.flatMap((event) => [...eventRows(sessionId, event)]));
    const made = await this.#store.commit({ key, was: this.#version, put: put.set(key, formatRecord(control)) });
    this.#version = made?.version;
    this.control = control;
  }
}

describe("a window that is remembered", () => {
  const size = fc.oneof({ weight: 5, arbitrary: fc.nat(300) }, fc.integer({ min: 16_000, max: 20_000 }));
  const command = fc.oneof(
    fc.record({ grow: fc.array(size, { minLength: 1, maxLength: 5 }), isOurs: fc.boolean() }),
    fc.record({ load: fc.constantFrom(0, 500, 2_000, 20_000, 100_000) }),
    fc.record({ summarise: fc.double({ min: 0, max: 1, noNaN: true }) }),
  );

  it("is the one that is stored, whatever was asked for and added before, and however little is remembered", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { maxLength: 40 }),
        fc.constantFrom(0, 1_000, 30_000, 1_000_000),
        async (commands, cacheBytes) => {
          const growing = new Growing(cacheBytes);
          for (const each of commands) {
            if ("grow" in each) await growing.grow(each.grow, each.isOurs);
            else if ("summarise" in each) await growing.summarise(each.summarise);
            else expect(await growing.load(each.load)).toEqual(growing.expected(each.load));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is read once, however long it grows by our own turns", async () => {
    const growing = new Growing(1_000_000);
    for (let turn = 0; turn < 30; turn++) await growing.grow([300, 300], false);
    await growing.load(20_000);
    expect(growing.reads.length).toBeGreaterThan(0);
    for (let turn = 0; turn < 30; turn++) {
      await growing.grow([300, turn % 10 === 0 ? 17_000 : 300], true);
      expect(await growing.load(20_000)).toEqual(growing.expected(20_000));
      expect(growing.reads).toEqual([]);
    }
    // A smaller one does not make the larger one be read again.
    await growing.load(1_000);
    await growing.load(20_000);
    expect(growing.reads).toEqual([]);
  });

  it("begins with what was written first of all, without a read", async () => {
    const growing = new Growing(1_000_000);
    await growing.grow([10], true);
    expect(await growing.load(1_000)).toEqual(growing.events);
    expect(growing.reads).toEqual([]);
  });

  it("holds no more than what a window may need", async () => {
    const growing = new Growing(12_000);
    for (let turn = 0; turn < 200; turn++) {
      await growing.grow([300, 300], true);
      await growing.load(5_000);
      expect(growing.reads).toEqual([]);
    }
  });

  it("holds no more than that where less is asked for than was once", async () => {
    const growing = new Growing(12_000);
    await growing.grow([300, 300], true);
    await growing.load(5_000);
    for (let turn = 0; turn < 200; turn++) {
      await growing.grow([300, 300], true);
      await growing.load(1_000);
      expect(growing.reads).toEqual([]);
    }
  });

  it("reads of another process's events those that are new", async () => {
    const growing = new Growing(1_000_000);
    await growing.grow([1, 1], true);
    await growing.load(1_000);
    await growing.grow([1, 1], false);
    await growing.load(1_000);
    expect(growing.reads.map((keys) => keys.length - 1)).toEqual([2]);
  });

  it("reads no large value that it does not show", async () => {
    const growing = new Growing(0);
    for (let turn = 0; turn < 5; turn++) await growing.grow([10, 100_000], false);
    expect(await growing.load(150_000)).toEqual(growing.events.slice(-2));
    const large = growing.reads.flat().filter((key) => key.startsWith("large/"));
    expect(large).toEqual([`large/${sessionId}/0000000009.0`]);
  });

  it("is whole, also of a large value that a smaller one left out", async () => {
    const growing = new Growing(1_000_000);
    await growing.grow([17_000], false);
    await growing.grow([10, 10], false);
    expect(await growing.load(1_000)).toEqual(growing.events.slice(1));
    expect(await growing.load(100_000)).toEqual(growing.events);
    expect(await growing.load(100_000)).toEqual(growing.events);
    expect(growing.reads).toEqual([]);
  });

  it("that begins a session is kept as large as it was asked for once", async () => {
    const growing = new Growing(1_000_000);
    for (let turn = 0; turn < 30; turn++) await growing.grow([300, 300], true);
    await growing.load(100_000);
    await growing.load(1_000);
    expect(await growing.load(100_000)).toEqual(growing.events);
    expect(growing.reads).toEqual([]);
  });

  it("is not given where the session moved on meanwhile", async () => {
    const growing = new Growing(1_000_000);
    await growing.grow([10], false);
    growing.control = { ...growing.control, revision: "another" };
    expect(await growing.load(1_000)).toBeUndefined();
  });
});
