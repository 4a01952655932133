import { describe, expect, test } from "vitest";
import type { Prepared } from "../../src/conversation/inbound.ts";
import { eventually, transcript } from "../support/agent-room.ts";
import { forever } from "../support/scripted-model.ts";
import { bob, conversationRoom, gate, read, says, until, words } from "./support/conversation-room.ts";

const edited = (id: string, text: string, ...sessionIds: string[]) => ({
  id,
  text,
  attachments: [],
  sessionIds: sessionIds.length > 0 ? sessionIds : ["room"],
});

/** Preparation that waits at a gate. */
function slowly(passed: Promise<void>, prepared: Prepared = {}) {
  return async () => {
    await passed;
    return prepared;
  };
}

describe("an edit", () => {
  test("of a message that is still being prepared is what its turn is about, also where that moves elsewhere", async () => {
    const { conversation, sessions } = await conversationRoom([["Two"], ["Three"]]);
    const ready = gate();
    const here = read(conversation.handle(says("m1", "one?"), slowly(ready.passed)));
    expect(await conversation.memory.amend(edited("m1", "two?"))).toBe(true);
    ready.open();
    expect(words(await here)).toEqual(["turn for m1", 'said "Two"']);
    const again = gate();
    const there = read(conversation.handle(says("m2", "one?"), slowly(again.passed, { sessionId: "there" })));
    expect(await conversation.memory.amend(edited("m2", "three?", "there"))).toBe(true);
    again.open();
    await there;
    expect(await transcript(sessions)).toEqual(["user Ada: two?", "assistant: Two"]);
    expect(await transcript(sessions, "there")).toEqual(["user Ada: three?", "assistant: Three"]);
  });

  test("of a message that waits behind a turn replaces its words in the store", async () => {
    const held = gate();
    const { conversation, sessions, model, takes } = await conversationRoom([[held.passed, "First"], ["Second"]]);
    const first = read(conversation.handle(says("m1", "first")));
    await until(() => model.calls.length === 1);
    const second = read(conversation.handle(says("m2", "second")));
    await until(() => takes.includes("waiting"));
    expect(await conversation.memory.amend(edited("m2", "other", "elsewhere", "room"))).toBe(true);
    held.open();
    await Promise.all([first, second]);
    expect(await transcript(sessions)).toEqual([
      "user Ada: first",
      "assistant: First",
      "user Ada: other",
      "assistant: Second",
    ]);
  });

  test("of a message on its way into the store waits until it is there", async () => {
    const held = gate();
    const late = gate();
    const { conversation, sessions, model } = await conversationRoom([[held.passed, "First"], ["Second"]], {
      override: (real) => ({
        async take(sessionId, input, options) {
          if (input?.id === "m2") await late.passed;
          return real.take(sessionId, input, options);
        },
      }),
    });
    const first = read(conversation.handle(says("m1", "first")));
    await until(() => model.calls.length === 1);
    const second = read(conversation.handle(says("m2", "second")));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const amended = conversation.memory.amend(edited("m2", "other"));
    late.open();
    expect(await amended).toBe(true);
    held.open();
    await Promise.all([first, second]);
    expect(await transcript(sessions)).toContain("user Ada: other");
  });

  test("of a message whose turn has begun, or that was never heard, changes nothing; nor does one that leaves nothing", async () => {
    const held = gate();
    const { conversation, sessions, model } = await conversationRoom([[held.passed, "First"]]);
    const first = read(conversation.handle(says("m1", "first")));
    await until(() => model.calls.length === 1);
    expect(await conversation.memory.amend(edited("m1", "other"))).toBe(false);
    expect(await conversation.memory.amend(edited("m9", "other", "nowhere", "room"))).toBe(false);
    expect(await conversation.memory.amend(edited("m1", " "))).toBe(false);
    held.open();
    await first;
    expect(await transcript(sessions)).toEqual(["user Ada: first", "assistant: First"]);
  });
});

describe("a deletion", () => {
  test("of a message that is still being prepared leaves no turn and no word", async () => {
    const { conversation, model, sessions } = await conversationRoom([["To Bob"]]);
    const ready = gate();
    let aborted = false;
    const prepare = async (signal: AbortSignal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      await ready.passed;
      return {};
    };
    const deleted = read(conversation.handle(says("m1", "never mind"), prepare));
    const stays = read(conversation.handle(says("m2", "hello", { author: bob })));
    expect(await conversation.memory.erase(["m1"])).toBe(0);
    expect(await deleted).toEqual([]);
    expect(aborted).toBe(true);
    expect(words(await stays)).toEqual(["turn for m2", 'said "To Bob"']);
    expect(await transcript(sessions)).toEqual(["user Bob: hello", "assistant: To Bob"]);
    model.assertComplete();
  });

  test("of a message that waits takes it from the queue, and its call ends", async () => {
    const held = gate();
    const { conversation, sessions, model, takes } = await conversationRoom([[held.passed, "First"], ["Third"]]);
    const first = read(conversation.handle(says("m1", "first")));
    await until(() => model.calls.length === 1);
    const second = read(conversation.handle(says("m2", "second")));
    const third = read(conversation.handle(says("m3", "third")));
    await until(() => takes.length === 3);
    expect(await conversation.memory.erase(["m2"])).toBe(1);
    held.open();
    expect(words((await Promise.all([first, second, third])).flat())).toEqual([
      "turn for m1",
      'said "First"',
      "turn for m3",
      'said "Third"',
    ]);
    expect((await transcript(sessions)).join()).not.toContain("second");
    model.assertComplete();
  });

  test("of the last one that waits ends its call too", async () => {
    const held = gate();
    const { conversation, model, takes } = await conversationRoom([[held.passed, "First"]]);
    const first = read(conversation.handle(says("m1", "first")));
    await until(() => model.calls.length === 1);
    const second = read(conversation.handle(says("m2", "second")));
    await until(() => takes.length === 2);
    await conversation.memory.erase(["m2"]);
    held.open();
    await first;
    expect(await second).toEqual([]);
    model.assertComplete();
  });

  test("of a message on its way into the store takes it out behind it", async () => {
    const late = gate();
    const { conversation, sessions } = await conversationRoom([["Too late"]], {
      override: (real) => ({
        async take(sessionId, input, options) {
          await late.passed;
          return real.take(sessionId, input, options);
        },
      }),
    });
    const deleted = read(conversation.handle(says("m1", "a secret")));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const erased = conversation.memory.erase(["m1"]);
    late.open();
    expect(await erased).toBe(1);
    // Its turn had begun, so that it goes on.
    expect(words(await deleted)).toEqual(["turn for m1", 'said "Too late"']);
    expect(JSON.stringify(await sessions.get("room"))).not.toContain("secret");
  });

  test("of a message whose turn goes on takes its words and leaves the answer", async () => {
    const held = gate();
    const { conversation, sessions, model } = await conversationRoom([["It is ", held.passed, "plum."], ["What?"]]);
    const first = read(conversation.handle(says("m1", "what is my secret?")));
    await until(() => model.calls.length === 1);
    expect(await conversation.memory.erase(["m1", "m8"])).toBe(1);
    held.open();
    expect(words(await first)).toEqual(["turn for m1", 'said "It is plum."']);
    await read(conversation.handle(says("m2", "go on")));
    expect(model.promptOf(1)).not.toContain("what is my secret");
    expect(JSON.stringify(await sessions.get("room"))).not.toContain("what is my secret");
  });
});

describe("a place that is gone", () => {
  test("takes its session, what goes on there and what is being prepared for it along, silently", async () => {
    const { conversation, sessions, model, takes } = await conversationRoom([["the beginning", forever]]);
    const running = read(conversation.handle(says("m1", "tell me a story")));
    await until(() => model.calls.length === 1);
    const waiting = read(conversation.handle(says("m2", "and then?")));
    await until(() => takes.length === 2);
    const preparing = read(conversation.handle(says("m3", "hello?"), slowly(forever)));
    expect(await conversation.memory.forget("room")).toBe(true);
    expect(words(await running)).toEqual(["turn for m1"]);
    expect(await waiting).toEqual([]);
    expect(await preparing).toEqual([]);
    expect(await sessions.get("room")).toBeUndefined();
    expect(await conversation.memory.forget("room")).toBe(false);
  });

  test("takes every session that lies in it, and leaves the others", async () => {
    const { conversation, sessions } = await conversationRoom([["Hi"], ["Hi"], ["Hi"]]);
    const at = (id: string, sessionId: string, ...places: string[]) =>
      read(conversation.handle({ ...says(id, "hello", { sessionId }), places }));
    await at("m1", "t1", "server 1", "channel 1");
    await at("m2", "t2", "server 1", "channel 2");
    await at("m3", "t3", "server 2");
    const preparing = read(
      conversation.handle({ ...says("m4", "hello", { sessionId: "t4" }), places: ["server 1"] }, slowly(forever)),
    );
    expect(await conversation.memory.places("server")).toEqual(["server 1", "server 2"]);
    expect(await conversation.memory.forgetPlace("channel 1")).toBe(1);
    expect(await conversation.memory.forgetPlace("server 1")).toBe(1);
    expect(await preparing).toEqual([]);
    expect(await conversation.memory.places("server")).toEqual(["server 2"]);
    expect((await sessions.list()).map(({ sessionId }) => sessionId)).toEqual(["room", "t3"]);
  });

  test("is gone however many sessions lie in it", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    for (let number = 0; number < 450; number += 1) {
      const input = { id: `m${number}`, content: "hi", places: ["big"] };
      await sessions.take(`t${number}`, input, { create: true, start: false });
    }
    expect(await conversation.memory.sessionsIn("big", new Date(0))).toHaveLength(450);
    expect(await conversation.memory.forgetPlace("big")).toBe(450);
    expect(await conversation.memory.sessionsIn("big", new Date(0))).toEqual([]);
  });
});

describe("what is known of a conversation", () => {
  test("is whether something was said in it lately", async () => {
    const { conversation } = await conversationRoom([["Hi"]]);
    await read(conversation.handle(says("m1", "hello")));
    const hour = 3_600_000;
    expect(await conversation.memory.sessionsIn("hall", new Date(Date.now() - hour))).toEqual(["room"]);
    expect(await conversation.memory.sessionsIn("hall", new Date(Date.now() + 2 * hour))).toEqual([]);
  });

  test("is what people said, and what was said around it, newest first, without what was erased", async () => {
    const { conversation } = await conversationRoom([["One"], ["Two"], ["Three"]]);
    const context = [{ id: "c1", author: bob, text: "nearby" }];
    await read(conversation.handle(says("m1", "one"), async () => ({ context })));
    await read(conversation.handle(says("m2", "two")));
    await read(conversation.handle(says("m3", "three")));
    await eventually(async () =>
      expect(await conversation.memory.heard("room")).toEqual({
        waiting: [],
        said: ["m3", "m2", "m1"],
        nearby: ["c1"],
      }),
    );
    await conversation.memory.erase(["m2"]);
    expect(await conversation.memory.heard("room")).toEqual({ waiting: [], said: ["m3", "m1"], nearby: ["c1"] });
  });

  test("is what waits for its turn, too", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    const content = "hello";
    await sessions.take("room", { id: "m1", content }, { create: true, start: false });
    await sessions.take("room", { id: "m2", content }, { start: false });
    expect(await conversation.memory.heard("room")).toEqual({ waiting: ["m2", "m1"], said: [], nearby: [] });
  });

  test("is nothing, of one that never was", async () => {
    const { conversation } = await conversationRoom([]);
    expect(await conversation.memory.heard("nowhere")).toEqual({ waiting: [], said: [], nearby: [] });
  });

  test("is bounded", async () => {
    const { conversation, sessions } = await conversationRoom([]);
    const session = await sessions.create({ sessionId: "long" });
    const said = (number: number) => ({
      id: `m${number}`,
      at: "2026-11-30T00:00:00.000Z",
      turn: `t${number}`,
      author: bob,
      message: { role: "user" as const, content: "hi" },
    });
    await sessions.save({ ...session, events: Array.from({ length: 400 }, (_, number) => said(number)) });
    const { said: heard } = await conversation.memory.heard("long");
    expect([heard.length, heard[0]]).toEqual([300, "m399"]);
  });
});
