import { describe, expect, test } from "vitest";
import { Call } from "../../src/conversation/call.ts";
import { Calls } from "../../src/conversation/calls.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { says } from "./support/conversation-room.ts";

function call(id: string, sessionId = "room"): Call {
  return new Call(sessionId, says(id, "hi", { sessionId }), async () => undefined);
}

describe("calls", () => {
  test("are found by their session once the store has them, and by what they bring", () => {
    const calls = new Calls();
    const [one, two, other] = [call("m1"), call("m2"), call("m3", "other")];
    for (const each of [one, two, other]) calls.add(each);
    two.take();
    other.take();
    expect(calls.takenIn("room")).toEqual([two]);
    expect(calls.bringing(({ id }) => id !== "m2")).toEqual([one, other]);
    expect(calls.bringing(({ sessionId }) => sessionId === "nowhere")).toEqual([]);
  });

  test("are kept until nothing of them goes on", async () => {
    const calls = new Calls();
    const one = call("m1");
    calls.add(one);
    expect(await calls.allDone(1)).toBe(false);
    for await (const _event of one) throw new Error("it says nothing");
    expect(await calls.allDone(1_000)).toBe(true);
    expect(calls.size).toBe(0);
  });

  test("are aborted together", () => {
    const calls = new Calls();
    const both = [call("m1"), call("m2")];
    for (const each of both) calls.add(each);
    const reason = new ThreadkeeperError("RUN_SHUTDOWN", "the end");
    calls.abortAll(reason);
    expect(both.map(({ signal }) => signal.reason)).toEqual([reason, reason]);
  });
});

describe("a call's message", () => {
  test("can be reworded and withdrawn until it is handed over, and not after", () => {
    const reason = new ThreadkeeperError("RUN_LOST", "deleted");
    const early = call("m1");
    expect(early.reword("other", [])).toBe(true);
    expect(early.handOver()).toMatchObject({ text: "other" });
    expect(early.reword("late", [])).toBe(false);
    expect(early.withdraw(reason)).toBe(false);
    expect(early.signal.aborted).toBe(false);
    const gone = call("m2");
    expect(gone.withdraw(reason)).toBe(true);
    expect(gone.signal.reason).toBe(reason);
    expect(new Call("room", undefined, async () => undefined).reword("words", [])).toBe(false);
  });

  test("is stored when the store has it, or when it never will", async () => {
    const taken = new Call("room", says("m1", "hi"), () => new Promise(() => {}));
    taken.take();
    await taken.stored;
    await call("m2").stored;
  });
});
