import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { controlKey, eventKey } from "../../src/session/session-record.ts";
import { all, bob, input, runOf, SessionRoom } from "../support/session-room.ts";
import { contents } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

describe.each(everyPlace)("What is erased from sessions in $kind", ({ makePlace }) => {
  let room: SessionRoom;
  const secret = "the code is 4711";
  const everything = async (): Promise<string> => JSON.stringify(await contents(room.store));
  beforeEach(async () => {
    room = await SessionRoom.open(makePlace);
  });
  afterEach(() => room.close());

  it("leaves its place and its turn, and nothing of the words or who said them", async () => {
    await room.turn("s", input("1"));
    const turn = await room.turn("s", input("2", { content: [{ type: "text", text: secret }] }));
    expect(await room.sessions.erase(["2"])).toEqual(["s"]);
    const [, , erased, answer] = await all(room.sessions.history("s"));
    expect(erased).toEqual({
      id: "2",
      seq: 2,
      at: expect.any(String),
      turn,
      erased: true,
      message: { role: "user", content: "" },
    });
    expect(answer?.message.content).toBe("answer to 2");
    expect(await everything()).not.toContain(secret);
    expect(await room.sessions.take("s", input("2"))).toEqual({ outcome: "known" });
  });

  it("goes from every session that holds it, as an input or as context, and from no other", async () => {
    const context = [
      { id: "9", author: bob, text: secret },
      { id: "8", author: bob, text: "harmless" },
    ];
    await room.turn("a", input("1", { context }));
    await room.turn("b", input("9", { content: secret, author: bob }));
    await room.turn("c", input("3"));
    expect(await room.sessions.erase(["9", "none", "9"])).toEqual(["a", "b"]);
    expect(await everything()).not.toContain(secret);
    const [said] = await all(room.sessions.history("a"));
    expect(said).toMatchObject({ id: "1", author: { id: "ada" }, message: { content: "words of 1" } });
    expect(said?.context?.map(({ id }) => id)).toEqual(["8"]);
    expect(said).not.toHaveProperty("erased");
    await room.sessions.erase(["8"]);
    expect((await all(room.sessions.history("a")))[0]).not.toHaveProperty("context");
  });

  it("twice is erased once", async () => {
    await room.turn("s", input("1"));
    expect(await room.sessions.erase(["1"])).toEqual(["s"]);
    const before = await contents(room.store);
    expect(await room.sessions.erase(["1"])).toEqual([]);
    expect(await room.sessions.erase([])).toEqual([]);
    expect(await contents(room.store)).toEqual(before);
  });

  it("leaves the queue, alone or from what came with others, and can come again no more", async () => {
    const run = runOf(await room.sessions.take("s", input("1"), { create: true }));
    await room.sessions.take("s", input("2", { content: secret }));
    await room.sessions.take("s", input("3", { context: [{ id: "0", author: bob, text: secret }] }));
    expect(await room.sessions.erase(["2", "0"])).toEqual(["s"]);
    expect(await everything()).not.toContain(secret);
    expect(await room.sessions.take("s", input("2"))).toEqual({ outcome: "known" });
    expect((await room.sessions.finish(run))?.session.events.map(({ id }) => id)).toEqual(["1", "3"]);
  });

  it("may be the last that waited: then there is nothing to take up", async () => {
    const run = runOf(await room.sessions.take("s", input("1"), { create: true }));
    await room.sessions.take("s", input("2"));
    await room.sessions.interrupt("s");
    expect(await room.sessions.unfinished()).toEqual(["s"]);
    await room.sessions.erase(["2"]);
    expect(await room.sessions.unfinished()).toEqual([]);
    expect(await room.sessions.take("s")).toEqual({ outcome: "idle" });
    expect(await room.sessions.finish(run)).toBeUndefined();
  });

  it("disturbs no run, whose input stays covered and whose answer is stored behind it", async () => {
    const run = runOf(await room.sessions.take("s", input("1", { content: secret }), { create: true }));
    expect(await room.sessions.erase(["1"])).toEqual(["s"]);
    await room.answer(run, "answer");
    expect(await room.sessions.finish(run)).toBeUndefined();
    expect(await room.texts("s")).toEqual(["", "answer"]);
    expect(await everything()).not.toContain(secret);
    expect(runOf(await room.sessions.take("s", input("2"))).session.events.map(({ id }) => id)[0]).toBe("1");
  });

  it("is stale in every copy that was read before", async () => {
    await room.turn("s", input("1"));
    const before = await room.sessions.get("s");
    if (!before) throw new Error("no session");
    await room.sessions.erase(["1"]);
    await expect(room.sessions.save(before)).rejects.toMatchObject({ code: "SESSION_STALE" });
  });

  it("is found beyond what a window shows, and where the same context came twice", async () => {
    const context = [{ id: "0", author: bob, text: secret }];
    await room.turn("s", input("1", { context }));
    for (let index = 0; index < 40; index++)
      await room.turn("s", input(`big-${index}`, { content: "x".repeat(10_000) }));
    await room.turn("s", input("2", { context }));
    expect((await everything()).split(secret)).toHaveLength(3);
    await room.sessions.erase(["0"]);
    expect(await everything()).not.toContain(secret);
  });

  it("goes from the others if one session is damaged, whose error then comes", async () => {
    for (const id of ["a", "b", "c"]) {
      await room.turn(id, input(`in ${id}`, { context: [{ id: "0", author: bob, text: secret }] }));
    }
    await room.place.spoil(eventKey("b", 0));
    await expect(room.sessions.erase(["0"])).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { sessionId: "b" },
    });
    expect(await everything()).not.toContain(secret);
    await room.place.spoil(controlKey("b"));
    await expect(room.sessions.erase(["0"])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await room.sessions.delete("b");
    expect(await room.sessions.erase(["0"])).toEqual([]);
  });

  it("while it is said, answered and taken up at the same time, is gone in the end, and nothing else is", async () => {
    const other = await room.another();
    for (let round = 0; round < 15; round++) {
      const ids = Array.from({ length: 4 }, (_, index) => `${round}-${index}`);
      const sessionId = `s${round}`;
      const driving = ids.map(async (id) => {
        const taken = await room.sessions.take(sessionId, input(id, { content: `${secret} ${id}` }), { create: true });
        for (let run = taken.outcome === "run" ? taken.run : undefined; run; run = await room.sessions.finish(run)) {
          await room.answer(run, "answer");
        }
      });
      const erasing = ids.slice(0, 2).map((id) => other.erase([id]));
      await Promise.all([...driving, ...erasing]);
      await other.erase(ids.slice(0, 2));
      const left = await everything();
      for (const [index, id] of ids.entries()) expect(left.includes(`${secret} ${id}`)).toBe(index >= 2);
      await room.sessions.delete(sessionId);
    }
  });
});
