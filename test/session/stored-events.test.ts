import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { newControl } from "../../src/session/control.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { controlKey, eventKey, eventRows, formatRecord, largeKey } from "../../src/session/session-record.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { readEvents, readLarge } from "../../src/session/stored-events.ts";
import { contents, write } from "../support/store-contract.ts";

const [long, longer] = ["x".repeat(20_000), "ü".repeat(20_000)];
const events: SessionEvent[] = [
  { id: "a", seq: 0, at: "now", turn: "t", message: { role: "user", content: "hello" } },
  {
    id: "b",
    seq: 1,
    at: "now",
    turn: "t",
    context: [{ id: "c", author: { id: "5", name: "Ada" }, text: longer }],
    message: {
      role: "user",
      content: [
        { type: "text", text: long },
        { type: "text", text: "short" },
      ],
    },
  },
];

describe("Events in a store", () => {
  let store: Store;
  const read = (...seqs: number[]) => readEvents(store, "s", "r", seqs);
  const whole = async (...seqs: number[]) => readLarge(store, "s", "r", (await read(...seqs)) ?? []);
  beforeEach(async () => {
    store = openMemoryStore();
    const rows = events.flatMap((event) => [...eventRows("s", event)]);
    await write(store, {
      key: controlKey("s"),
      put: Object.fromEntries([[controlKey("s"), formatRecord({ ...newControl("r"), count: 2 })], ...rows]),
    });
  });

  it("have their large values under keys of their own, which count", async () => {
    const rows = await contents(store);
    expect([rows[largeKey("s", 1, 0)], rows[largeKey("s", 1, 1)]]).toEqual([longer, long]);
    const stored = await read(1, 0);
    const bytes = (prefix: string) =>
      Object.keys(rows).reduce(
        (sum, key) => sum + (key.startsWith(prefix) ? Buffer.byteLength(rows[key] ?? "") : 0),
        0,
      );
    expect(stored?.map((each) => each.bytes)).toEqual([
      bytes(eventKey("s", 1)) + bytes("large/s/"),
      bytes(eventKey("s", 0)),
    ]);
    expect(bytes(eventKey("s", 1))).toBeLessThan(1_000);
  });

  it("come back whole and frozen", async () => {
    const read = await whole(0, 1);
    expect(read?.map(({ event }) => event)).toEqual(events);
    expect(() => Object.assign(read?.[1]?.event.context?.[0] ?? {}, { text: "" })).toThrow(TypeError);
    expect(read?.map(({ large }) => large)).toEqual([[], []]);
  });

  it("come back the same, whatever they hold and however large it is", async () => {
    const text = fc
      .tuple(fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom(1, 1, 6_000, 20_000))
      .map(([unit, times]) => unit.repeat(times));
    const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.array(text), fc.dictionary(fc.string(), text));
    const event = fc.record({ id: text, output: value, said: text }).map(
      ({ id, output, said }): SessionEvent => ({
        ...{ id: `e${id}`, seq: 0, at: "now", turn: "t" },
        context: [{ id: "c", author: { id: "5", name: said }, text: said }],
        message: {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "1", toolName: "t", output: { type: "json", value: output as never } },
          ],
        },
      }),
    );
    await fc.assert(
      fc.asyncProperty(event, async (given) => {
        const rows = eventRows("t", given);
        const [stored] = await store.get([controlKey("t")]);
        const put = { ...Object.fromEntries(rows), [controlKey("t")]: formatRecord({ ...newControl("r"), count: 1 }) };
        await write(store, { key: controlKey("t"), was: stored?.version, put });
        const read = await readLarge(store, "t", "r", (await readEvents(store, "t", "r", [0])) ?? []);
        expect(read?.[0]?.event).toEqual(JSON.parse(JSON.stringify(given)));
        const sizes = Array.from(rows.values(), (row) => Buffer.byteLength(row));
        expect(read?.[0]?.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
      }),
      { numRuns: 100 },
    );
  });

  it("of which a large value is missing or cannot be read are an error that names the session and the event", async () => {
    const key = largeKey("s", 1, 1);
    const [stored] = await store.get([key]);
    await write(store, { key, was: stored?.version, remove: [key] });
    await expect(whole(0, 1)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("event 1 of session s"),
      fields: { sessionId: "s" },
    });
    expect((await whole(0))?.[0]?.event).toEqual(events[0]);
  });

  it("whose large value has no place in them are damaged", async () => {
    const key = eventKey("s", 0);
    const record = formatRecord({ event: events[0], large: [{ path: ["message", "content", 0], bytes: 5 }] });
    const [stored] = await store.get([key]);
    await write(store, { key, was: stored?.version, put: { [key]: record, [largeKey("s", 0, 0)]: "words" } });
    await expect(whole(0)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("of another revision, or of a session that is gone, are not given", async () => {
    expect(await readEvents(store, "s", "another", [0])).toBeUndefined();
    const stored = (await read(1)) ?? [];
    expect(await readLarge(store, "s", "another", stored)).toBeUndefined();
    expect(await readEvents(store, "none", "r", [0])).toBeUndefined();
  });
});
