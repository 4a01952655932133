import { describe, expect, test } from "vitest";
import { tallied } from "../../src/conversation/tally.ts";
import { forever } from "../support/scripted-model.ts";
import { commands, conversationRoom, read, says, until, words } from "./support/conversation-room.ts";

const nothing = {
  threads: 0,
  turns: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  errors: 0,
};

describe("tallied", () => {
  test("counts threads, turns, tokens and errors of what passes, and starts anew when it is read", async () => {
    const room = await conversationRoom([
      { parts: ["One."], cachedTokens: 4, cacheWrites: 3 },
      ["Two."],
      [new Error("down")],
      ["Four."],
    ]);
    const { conversation, readTally } = tallied(room.conversation);
    expect(readTally()).toEqual(nothing);
    for (const id of ["m1", "m2", "m3"]) await read(conversation.handle(says(id, "hi")));
    expect(words(await read(conversation.handle(says("m4", "hi", { sessionId: "other" }))))).toHaveLength(2);
    expect(readTally()).toEqual({
      ...{ threads: 2, turns: 4, errors: 1 },
      ...{ inputTokens: 30, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 15 },
    });
    expect(readTally()).toEqual(nothing);
  });

  test("counts a notice of a failure as an error, but not what somebody stopped", async () => {
    const room = await conversationRoom([[forever]]);
    const { conversation, readTally } = tallied(room.conversation);
    const run = read(conversation.handle(says("m1", "hi")));
    await until(() => room.model.calls.length === 1);
    await read(conversation.handle(commands("stop")));
    await run;
    expect(readTally()).toMatchObject({ turns: 1, errors: 0 });
    await read(
      conversation.handle(says("m2", "hi"), async () => {
        throw new Error("no thread");
      }),
    );
    await read(conversation.handle(says("m3", "")));
    expect(readTally()).toEqual({ ...nothing, errors: 1 });
  });

  test("hands on places, resumption, leaving and the end as they are", async () => {
    const room = await conversationRoom([["One.", forever], ["Two."]]);
    const { conversation, readTally } = tallied(room.conversation);
    for await (const event of conversation.handle(says("m1", "hi"))) if (event.type === "text-delta") break;
    await room.sessions.take("room", { id: "m2", content: "hi" });
    await room.sessions.interrupt("room");
    await room.sessions.take("room", { id: "m3", content: "hi" });
    await room.sessions.interrupt("room");
    expect(await read(conversation.resume("room"))).toEqual([]);
    expect(words(await read(conversation.handle(says("m4", "hi"))))).toEqual(["turn for m4", 'said "Two."']);
    expect(readTally()).toMatchObject({ threads: 1, turns: 2 });
    await conversation.close(1000);
    expect(await read(conversation.handle(says("m5", "hi")))).toEqual([]);
  });

  test("an iterator without a way to leave can be left all the same", async () => {
    const bare = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: { type: "notice", reason: "stopped", replyTo: null } }),
      }),
    };
    const { conversation } = tallied({ handle: () => bare, resume: () => bare, close: async () => {} } as never);
    for await (const _ of conversation.resume("room")) break;
  });
});
