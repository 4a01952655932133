import { describe, expect, test } from "vitest";
import type { Call } from "../../src/conversation/call.ts";
import type { InboundOf } from "../../src/conversation/inbound.ts";
import { undo } from "../../src/conversation/undo.ts";
import { hasCode } from "../../src/errors.ts";
import { commands, conversationRoom, gate, read, says, until, words } from "./support/conversation-room.ts";

const asked = (privileged = true) => commands("undo", { privileged }) as InboundOf<"undo">;

describe("/undo", () => {
  test("takes the last turn out of memory, and says which messages it answered", async () => {
    const room = await conversationRoom([["one"], ["two"], ["three"]]);
    const { conversation } = room;
    await read(conversation.handle(says("1", "the first")));
    await read(conversation.handle(says("2", "the secret is plum")));
    expect(await read(conversation.handle(asked()))).toEqual([
      { type: "notice", reason: "undone", inputs: ["2"], replyTo: { command: "undo" } },
    ]);
    await read(conversation.handle(says("3", "and now?")));
    const shown = room.model.promptOf(room.model.calls.length - 1);
    expect(shown).toContain("the first");
    expect(shown).not.toContain("plum");
    expect(words(await read(conversation.handle(says("2", "the secret is plum"))))).toEqual([]);
  });

  test("goes back turn by turn, until there is nothing", async () => {
    const { conversation } = await conversationRoom([["one"], ["two"]]);
    await read(conversation.handle(says("1", "the first")));
    await read(conversation.handle(says("2", "the second")));
    const undone = async () => words(await read(conversation.handle(asked())));
    expect(await undone()).toEqual(["notice undone"]);
    expect(await undone()).toEqual(["notice undone"]);
    expect(await undone()).toEqual(["notice nothing-to-undo"]);
  });

  test("ends a turn in progress without a word, and what waits is answered", async () => {
    const { passed, open } = gate();
    const room = await conversationRoom([["Half", passed, "late"], ["next"]]);
    const { conversation } = room;
    const first = read(conversation.handle(says("1", "the first")));
    await until(() => room.model.calls.length === 1);
    const second = read(conversation.handle(says("2", "the second")));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const undone = read(conversation.handle(asked()));
    open();
    expect(words(await first)).toEqual(["turn for 1"]);
    expect([...words(await undone), ...words(await second)]).toEqual(["notice undone", "turn for 2", 'said "next"']);
    expect(room.model.promptOf(room.model.calls.length - 1)).not.toContain("the first");
  });

  test("is for those who may", async () => {
    const sessions = { rewind: () => Promise.reject(new Error("asked")) };
    const calls = { takenIn: () => [] };
    expect(await undo(sessions, calls, asked(false))).toEqual({ reason: "not-allowed", what: "undo" });
  });

  test("ends only what is at work on the turn, and waits until nothing more of it is drawn", async () => {
    const ended: string[] = [];
    const { passed, open } = gate();
    const call = (name: string, turn: string | undefined): Call => {
      const abort = (error: unknown) => ended.push(`${name} ${hasCode(error, "RUN_LOST")}`);
      return { turn: turn && [{ id: turn }], abort, done: passed } as unknown as Call;
    };
    const calls = { takenIn: () => [call("a", "1"), call("b", undefined), call("c", "2")] };
    const sessions = { rewind: async () => ({ turn: "t", inputs: ["0", "1"] }) };
    let isOver = false;
    const undone = undo(sessions, calls, asked()).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([ended, isOver]).toEqual([["a true"], false]);
    open();
    expect(await undone).toEqual({ reason: "undone", inputs: ["0", "1"] });
  });
});
