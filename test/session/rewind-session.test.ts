import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controlKey, eventKey } from "../../src/session/session-record.ts";
import { input, runOf, SessionRoom } from "../support/session-room.ts";
import { everyPlace } from "../support/store-places.ts";

describe.each(everyPlace)("A session in $kind that is rewound", ({ makePlace }) => {
  let room: SessionRoom;
  beforeEach(async () => {
    room = await SessionRoom.open(makePlace);
  });
  afterEach(() => room.close());

  it("is without its last turn, which is told, and none of that turn's keys is left", async () => {
    await room.turn("s", input("1"));
    const before = await room.keys("s");
    const context = [{ id: "0", author: { id: "cid", name: "Cid" }, text: "before" }];
    const turn = await room.turn("s", input("2", { context }));
    expect(await room.sessions.rewind("s")).toEqual({ turn, inputs: ["2"] });
    expect(await room.texts("s")).toEqual(["words of 1", "answer to 1"]);
    expect(await room.keys("s")).toEqual([...before, "speaker/s/cid", "user/cid/s"].sort());
    await room.turn("s", input("3"));
    expect(await room.texts("s")).toEqual(["words of 1", "answer to 1", "words of 3", "answer to 3"]);
  });

  it("is without a turn that is named and all after it, and all their inputs are told", async () => {
    const turns = await room.turns("s", 400);
    expect(await room.sessions.rewind("s", turns[1])).toEqual({
      turn: turns[1],
      inputs: Array.from({ length: 399 }, (_, index) => `${index + 1}`),
    });
    expect(await room.texts("s")).toEqual(["words of 0", "answer to 0"]);
    expect(await room.sessions.rewind("s")).toEqual({ turn: turns[0], inputs: ["0"] });
    expect(await room.texts("s")).toEqual([]);
    expect((await room.keys("s")).filter((key) => /^(event|large|said)/.test(key))).toEqual([]);
  });

  it("stays as it is if there is no such turn, and there need be no such session", async () => {
    expect(await room.sessions.rewind("none")).toBeUndefined();
    await room.sessions.create({ sessionId: "s" });
    expect(await room.sessions.rewind("s")).toBeUndefined();
    await room.turn("s", input("1"));
    const before = await room.sessions.get("s");
    expect(await room.sessions.rewind("s", "none")).toBeUndefined();
    expect(await room.sessions.get("s")).toEqual(before);
  });

  it("loses its run, while what waits waits on, and what was handled stays known", async () => {
    await room.turn("s", input("1"));
    const run = runOf(await room.sessions.take("s", input("2")));
    await room.sessions.take("s", input("3"));
    expect(await room.sessions.rewind("s")).toEqual({ turn: run.turn, inputs: ["2"] });
    await expect(room.answer(run, "late")).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await room.sessions.finish(run)).toBeUndefined();
    expect(await room.sessions.take("s", input("2"))).toEqual({ outcome: "known" });
    expect(await room.sessions.unfinished()).toEqual(["s"]);
    const next = runOf(await room.sessions.take("s"));
    expect(next.inputs.map(({ id }) => id)).toEqual(["3"]);
    expect(await room.texts("s")).toEqual(["words of 1", "answer to 1", "words of 3"]);
  });

  it("keeps its state, and every copy of it is stale", async () => {
    await room.turn("s", input("1"));
    const before = await room.sessions.get("s");
    if (!before) throw new Error("no session");
    const saved = await room.sessions.save({ ...before, state: { step: 1 } });
    await room.sessions.rewind("s");
    await expect(room.sessions.save(saved)).rejects.toMatchObject({ code: "SESSION_STALE" });
    expect((await room.sessions.get("s"))?.state).toEqual({ step: 1 });
  });

  it("takes a turn for the events next to each other that carry its name: the last of them, if there are more", async () => {
    const session = await room.sessions.create({ sessionId: "s" });
    const event = (id: string, turn: string) =>
      ({ id, at: "now", turn, message: { role: "assistant", content: id } }) as const;
    const events = [event("1", "a"), event("2", "b"), event("3", "a"), event("4", "a"), event("5", "c")];
    await room.sessions.save({ ...session, events });
    expect(await room.sessions.rewind("s", "a")).toEqual({ turn: "a", inputs: [] });
    expect(await room.texts("s")).toEqual(["1", "2"]);
  });

  it("is an error and stays as it was if what goes is damaged", async () => {
    await room.turn("s", input("1"));
    await room.place.spoil(eventKey("s", 1));
    await expect(room.sessions.rewind("s")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await room.place.spoil(controlKey("s"));
    await expect(room.sessions.rewind("s")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await room.keys("s")).toHaveLength(6);
  });

  it("by two at once loses two turns, one after the other", async () => {
    for (const id of ["1", "2", "3"]) await room.turn("s", input(id));
    const other = await room.another();
    const both = await Promise.all([room.sessions.rewind("s"), other.rewind("s")]);
    expect(both.flatMap((each) => each?.inputs).sort()).toEqual(["2", "3"]);
    expect(await room.texts("s")).toEqual(["words of 1", "answer to 1"]);
  });
});
