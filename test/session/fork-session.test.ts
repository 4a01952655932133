import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controlKey, eventKey } from "../../src/session/session-record.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { all, bob, input, runOf, SessionRoom } from "../support/session-room.ts";
import { contents } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

describe.each(everyPlace)("A fork of a session in $kind", ({ makePlace }) => {
  let room: SessionRoom;
  beforeEach(async () => {
    room = await SessionRoom.open(makePlace);
  });
  afterEach(() => room.close());

  it("begins with the same events and state, and then goes its own way", async () => {
    await room.turn("s", input("1", { context: [{ id: "0", author: bob, text: "before" }] }));
    const before = await room.sessions.get("s");
    if (!before) throw new Error("no session");
    const source = await room.sessions.save({ ...before, state: { step: 1 } });
    const fork = await room.sessions.fork("s", { sessionId: "f" });
    expect(fork).toEqual({ ...source, sessionId: "f", version: expect.any(String) });
    expect(fork.version).not.toBe(source.version);
    await room.turn("f", input("2"));
    await room.turn("s", input("3"));
    expect(await room.texts("f")).toEqual(["words of 1", "answer to 1", "words of 2", "answer to 2"]);
    expect(await room.texts("s")).toEqual(["words of 1", "answer to 1", "words of 3", "answer to 3"]);
  });

  it("goes up to a turn, and with it", async () => {
    const turns = await room.turns("s", 300);
    const { sessionId } = await room.sessions.fork("s", { turn: turns[1] as string });
    expect(await room.texts(sessionId)).toEqual(["words of 0", "answer to 0", "words of 1", "answer to 1"]);
    await room.sessions.fork("s", { sessionId: "whole" });
    const [whole, source] = [await all(room.sessions.history("whole")), await all(room.sessions.history("s"))];
    expect(whole).toEqual(source);
    await expect(room.sessions.fork("s", { sessionId: "f", turn: "none" })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
      fields: { sessionId: "s" },
    });
    expect(await room.sessions.get("f")).toBeUndefined();
  });

  it("has no words that are erased while it is made, nor a session that is forked while they are erased", async () => {
    const secret = "the code is 4711";
    await room.turn("s", input("1", { content: secret }));
    await room.turn("s", input("2", { content: secret }));
    const stores: FaultyStore[] = [];
    /** Another process, in which something happens just before it moves a session for the first time. */
    const processWith = async (sessionId: string, happens: () => Promise<unknown>) => {
      const store = new FaultyStore(await room.place.open());
      stores.push(store);
      let pending: (() => Promise<unknown>) | undefined = happens;
      const commit = store.commit.bind(store);
      store.commit = async (change) => {
        const due = change.key === controlKey(sessionId) ? pending : undefined;
        if (due) pending = undefined;
        await due?.();
        return commit(change);
      };
      return room.another({ store });
    };
    const forking = await processWith("f", () => room.sessions.erase(["1"]));
    const fork = await forking.fork("s", { sessionId: "f" });
    expect(fork.events.map(({ erased = false }) => erased)).toEqual([true, false, false, false]);
    const erasing = await processWith("s", () => room.sessions.fork("s", { sessionId: "g" }));
    expect(await erasing.erase(["2"])).toEqual(["f", "g", "s"]);
    expect(JSON.stringify(await contents(room.store))).not.toContain(secret);
    for (const store of stores) await store.close();
  });

  it("never takes the place of another session, nor comes from none", async () => {
    await room.turn("s", input("1"));
    await room.turn("f", input("2"));
    for (const sessionId of ["f", "s"]) {
      await expect(room.sessions.fork("s", { sessionId })).rejects.toMatchObject({
        code: "SESSION_EXISTS",
        fields: { sessionId },
      });
    }
    expect(await room.texts("f")).toEqual(["words of 2", "answer to 2"]);
    await expect(room.sessions.fork("none", { sessionId: "g" })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
      fields: { sessionId: "none" },
    });
    await expect(room.sessions.fork("s", { sessionId: "a/b" })).rejects.toMatchObject({ code: "SESSION_ID_INVALID" });
    await expect(room.sessions.fork("s", { places: [""] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const once = await Promise.allSettled(Array.from({ length: 5 }, () => room.sessions.fork("s", { sessionId: "g" })));
    expect(once.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("takes neither the run nor what waits with it, and what was handled is answered there only", async () => {
    const run = runOf(await room.sessions.take("s", input("1"), { create: true }));
    await room.sessions.take("s", input("2"));
    await room.sessions.fork("s", { sessionId: "f" });
    expect(await room.sessions.unfinished()).toEqual([]);
    expect(await room.texts("f")).toEqual(["words of 1"]);
    for (const id of ["1", "2"]) expect(await room.sessions.take("f", input(id))).toEqual({ outcome: "known" });
    await room.answer(run, "answer");
    expect(await room.sessions.finish(run)).toMatchObject({ inputs: [{ id: "2" }] });
    expect(await room.texts("f")).toEqual(["words of 1"]);
  });

  it("is found by those who spoke in it, lies where it is put or else where the other does, and is erased in with it", async () => {
    await room.turn("s", input("1", { places: ["here"], context: [{ id: "0", author: bob, text: "before" }] }));
    await room.sessions.fork("s", { sessionId: "f" });
    await room.sessions.fork("s", { sessionId: "g", places: ["there"] });
    const ids = async (options: object) => (await room.sessions.list(options)).map(({ sessionId }) => sessionId);
    expect(await ids({ place: "here" })).toEqual(["f", "s"]);
    expect(await ids({ place: "there" })).toEqual(["g"]);
    for (const user of ["ada", "bob"]) expect(await ids({ user })).toEqual(["f", "g", "s"]);
    expect(await room.sessions.erase(["0"])).toEqual(["f", "g", "s"]);
    expect(JSON.stringify(await all(room.sessions.history("g")))).not.toContain("before");
  });

  it("is not made, and leaves nothing behind, if an event to copy is damaged", async () => {
    await room.turn("s", input("1"));
    await room.place.spoil(eventKey("s", 0));
    await expect(room.sessions.fork("s", { sessionId: "f" })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { sessionId: "s", store: room.store.description },
    });
    expect(await room.keys("f")).toEqual([]);
  });

  it("of a session that is reset again and again is one of before or one of after", async () => {
    const other = await room.another();
    for (let round = 0; round < 10; round++) {
      await room.turn("s", input(`a${round}`));
      await room.turn("s", input(`b${round}`));
      const [fork] = await Promise.all([room.sessions.fork("s"), other.reset("s")]);
      expect([0, 4]).toContain(fork.events.length);
    }
  });
});
