import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { eventKey } from "../../src/session/session-record.ts";
import { all, input, SessionRoom } from "../support/session-room.ts";
import { write } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

describe.each(everyPlace)("The history of a session in $kind", ({ makePlace }) => {
  let room: SessionRoom;
  const event = (index: number): SessionEvent => ({
    id: `e${index}`,
    at: "now",
    turn: `t${Math.floor(index / 2)}`,
    message: { role: index % 2 === 0 ? "user" : "assistant", content: `${index}` },
  });
  const fill = async (count: number): Promise<void> => {
    const session = await room.sessions.create({ sessionId: "s" });
    await room.sessions.save({ ...session, events: Array.from({ length: count }, (_, index) => event(index)) });
  };
  const seqs = async (options = {}): Promise<unknown[]> =>
    (await all(room.sessions.history("s", options))).map(({ seq }) => seq);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  beforeEach(async () => {
    room = await SessionRoom.open(makePlace);
  });
  afterEach(() => room.close());

  it("is all of it, in either direction, whatever a window holds", async () => {
    await fill(700);
    expect(await seqs()).toEqual(upTo(700));
    expect(await seqs({ direction: "backward" })).toEqual(upTo(700).reverse());
    const [first] = await all(room.sessions.history("s"));
    expect(first).toEqual({ ...event(0), seq: 0 });
  });

  it("from any place, which need not exist", async () => {
    await fill(300);
    for (const from of [0, 1, 255, 256, 299]) {
      expect(await seqs({ from })).toEqual(upTo(300).slice(from));
      expect(await seqs({ from, direction: "backward" })).toEqual(upTo(from + 1).reverse());
    }
    expect(await seqs({ from: 300 })).toEqual([]);
    expect(await seqs({ from: 5000, direction: "backward" })).toEqual(upTo(300).reverse());
    for (const from of [-1, 0.5, Number.NaN]) {
      await expect(seqs({ from })).rejects.toMatchObject({ code: "INPUT_INVALID", fields: { path: "from" } });
    }
  });

  it("is read only as far as it is wanted", async () => {
    await fill(1000);
    room.store.calls = 0;
    for await (const { seq } of room.sessions.history("s")) if (seq === 10) break;
    expect(room.store.calls).toBeLessThanOrEqual(3);
  });

  it("has what is large in it, read when it is wanted", async () => {
    const big = "x".repeat(20_000);
    const session = await room.sessions.create({ sessionId: "s" });
    const large = (index: number): SessionEvent => ({
      ...event(index),
      message: { role: "user", content: `${index} ${big}` },
    });
    await room.sessions.save({ ...session, events: Array.from({ length: 20 }, (_, index) => large(index)) });
    const found = await all(room.sessions.history("s", { direction: "backward" }));
    expect(found.map(({ message }) => message.content)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${19 - index} ${big}`),
    );
    room.store.calls = 0;
    for await (const { seq } of room.sessions.history("s")) if (seq === 1) break;
    expect(room.store.calls).toBe(4);
    const reading = room.sessions.history("s")[Symbol.asyncIterator]();
    await reading.next();
    await room.sessions.reset("s");
    await expect(reading.next()).rejects.toMatchObject({ code: "SESSION_STALE" });
  });

  it("of a session that a plain Keyv kept is all of it, too", async () => {
    const events = [{ role: "user", content: "hello" }];
    await write(room.store, { key: "s", put: { s: JSON.stringify({ sessionId: "s", events, state: {} }) } });
    expect(await seqs()).toEqual([0]);
    await write(room.store, { key: "t", put: { t: JSON.stringify({ sessionId: "t", events, state: {} }) } });
    expect((await room.sessions.fork("t")).events.map(({ message }) => message)).toEqual(events);
  });

  it("has what is said while it is read", async () => {
    await fill(300);
    const found: unknown[] = [];
    for await (const { seq } of room.sessions.history("s")) {
      found.push(seq);
      if (seq === 0) await room.turn("s", input("new"));
    }
    expect(found).toEqual(upTo(302));
  });

  for (const [what, change] of Object.entries({
    reset: () => room.sessions.reset("s"),
    deleted: () => room.sessions.delete("s"),
    rewound: () => room.sessions.rewind("s"),
    "erased in": () => room.sessions.erase(["e0"]),
  })) {
    it(`is stale if it is ${what} meanwhile`, async () => {
      await fill(300);
      for (const direction of ["forward", "backward"] as const) {
        const reading = room.sessions.history("s", { direction })[Symbol.asyncIterator]();
        await reading.next();
        if (direction === "backward") await room.sessions.reset("s");
        else await change();
        await expect(
          (async () => {
            while (!(await reading.next()).done);
          })(),
        ).rejects.toMatchObject({ code: "SESSION_STALE" });
        await room.sessions.delete("s");
        await fill(300);
      }
    });
  }

  it("is empty where nothing was said, an error where there is no session, or an event is damaged", async () => {
    await room.sessions.create({ sessionId: "s" });
    expect(await seqs()).toEqual([]);
    expect(await seqs({ direction: "backward" })).toEqual([]);
    await expect(all(room.sessions.history("none"))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await room.sessions.delete("s");
    await fill(10);
    await room.place.spoil(eventKey("s", 3));
    await expect(seqs()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/event 3 of session s /),
      fields: { sessionId: "s", store: room.store.description },
    });
    expect(() => room.sessions.history("a/b")).toThrow(expect.objectContaining({ code: "SESSION_ID_INVALID" }));
  });
});
