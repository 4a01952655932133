import { describe, expect, test, vi } from "vitest";
import { ThreadkeeperError } from "../../src/errors.ts";
import { commands, conversationRoom, read, says, words } from "./support/conversation-room.ts";

const asked = (privileged = true) => commands("fork", { privileged });
const opens = () => vi.fn(async () => ({ sessionId: "other", replyTo: { place: "other" } }));

describe("/fork", () => {
  test("begins another session with this one's memory; from there each goes its own way", async () => {
    const room = await conversationRoom([["one"], ["two"], ["three"]]);
    const { conversation, sessions } = room;
    await read(conversation.handle(says("1", "the secret is plum")));
    expect(await read(conversation.handle(asked(), opens()))).toEqual([
      { type: "notice", reason: "forked", to: { place: "other" }, replyTo: { command: "fork" } },
    ]);
    await read(conversation.handle(says("2", "what was it?", { sessionId: "other" })));
    expect(room.model.promptOf(room.model.calls.length - 1)).toContain("plum");
    await read(conversation.handle(says("3", "still here?")));
    expect(room.model.promptOf(room.model.calls.length - 1)).not.toContain("what was it?");
    expect((await sessions.list({ place: "hall" })).map(({ sessionId }) => sessionId)).toEqual(["other", "room"]);
  });

  test("opens nothing where nothing is remembered, or for those who may not", async () => {
    const { conversation } = await conversationRoom([["one"]]);
    const open = opens();
    expect(words(await read(conversation.handle(asked(), open)))).toEqual(["notice nothing-to-fork"]);
    await read(conversation.handle(says("1", "hello")));
    expect(await read(conversation.handle(asked(false), open))).toMatchObject([
      { reason: "not-allowed", what: "fork" },
    ]);
    await read(conversation.handle(commands("reset", { privileged: true })));
    expect(words(await read(conversation.handle(asked(), open)))).toEqual(["notice nothing-to-fork"]);
    expect(open).not.toHaveBeenCalled();
  });

  test("says what failed: its place could not be opened, or is taken", async () => {
    const { conversation } = await conversationRoom([["one"], ["two"]]);
    await read(conversation.handle(says("1", "hello")));
    const full = async () => {
      throw new ThreadkeeperError("DISCORD_TOO_MANY_THREADS", "full");
    };
    expect(words(await read(conversation.handle(asked(), full)))).toEqual(["notice failed DISCORD_TOO_MANY_THREADS"]);
    await read(conversation.handle(says("2", "hello", { sessionId: "other" })));
    expect(words(await read(conversation.handle(asked(), opens())))).toEqual(["notice failed SESSION_EXISTS"]);
  });

  test("carries over what was said before its place was opened, and nothing of later", async () => {
    const { conversation, sessions } = await conversationRoom([["one"], ["two"]]);
    await read(conversation.handle(says("1", "before")));
    const open = async () => {
      await read(conversation.handle(says("2", "meanwhile")));
      return { sessionId: "other", replyTo: {} };
    };
    expect(words(await read(conversation.handle(asked(), open)))).toEqual(["notice forked"]);
    const ids = (await sessions.get("other"))?.events.filter(({ author }) => author).map(({ id }) => id);
    expect(ids).toEqual(["1"]);
  });

  test("makes a session without a name where nobody names one, told of in the same place", async () => {
    const { conversation, sessions } = await conversationRoom([["one"]]);
    await read(conversation.handle(says("1", "hello")));
    expect(await read(conversation.handle(asked()))).toMatchObject([{ reason: "forked", to: { command: "fork" } }]);
    expect(await sessions.list()).toHaveLength(2);
  });
});
