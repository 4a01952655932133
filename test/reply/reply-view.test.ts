import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/conversation/turn-event.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { type ReplyView, replyViews } from "../../src/reply/reply-view.ts";
import { safeText } from "../../src/reply/safe-text.ts";
import { splitText } from "../../src/reply/split-text.ts";

const turn = "t1";
const replyTo = { channel: "c1", message: "m1" };
const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 };
const start: TurnEvent = { type: "turn-start", turn, replyTo, inputs: [] };
const says = (text: string): TurnEvent => ({ type: "text-delta", turn, text });
const begins = (name: string, callId = name): TurnEvent => ({ type: "tool-start", turn, callId, name });
const ends = (name: string, callId = name): TurnEvent => ({ type: "tool-end", turn, callId, name, failed: false });
const end = (text: string, finishReason: "stop" | "length" | "content-filter" | "step-limit" | "other" = "stop") =>
  ({ type: "turn-end", turn, text, finishReason, usage, steps: 1 }) satisfies TurnEvent;
const fails = (code: "MODEL_FAILED" | "RUN_STOPPED"): TurnEvent => ({
  type: "turn-failed",
  turn,
  error: new ThreadkeeperError(code, "key sk-123 at /home/me"),
  reference: "abc123",
});

async function* from(events: readonly TurnEvent[]): AsyncGenerator<TurnEvent> {
  yield* events;
}

async function viewsOf(...events: TurnEvent[]): Promise<ReplyView[]> {
  const views: ReplyView[] = [];
  for await (const view of replyViews(from(events))) views.push(view);
  return views;
}

const chunksOf = async (...events: TurnEvent[]) => (await viewsOf(...events)).map(({ chunks }) => chunks);
const lastOf = async (...events: TurnEvent[]) => (await viewsOf(...events)).at(-1);

describe("replyViews", () => {
  test("a turn is typing, then text that grows, then finished", async () => {
    const working = { turn, replyTo, typing: true, finished: false };
    expect(await viewsOf(start, says("Hel"), says("lo"), end("Hello"))).toEqual([
      { ...working, chunks: [] },
      { ...working, chunks: ["Hel"] },
      { ...working, chunks: ["Hello"] },
      { turn, replyTo, typing: false, finished: true, chunks: ["Hello"] },
    ]);
  });

  test("a turn that is taken up is known as such in all its views, and the next one is not", async () => {
    const views = await viewsOf({ ...start, resumed: true }, says("Hel"), end("Hello"), start);
    expect(views.map(({ resumed }) => resumed)).toEqual([true, true, true, undefined]);
  });

  test("that a conversation has grown long is said beside the turns", async () => {
    const told: TurnEvent = { type: "summarised", turn, replyTo, older: "summary" };
    expect((await viewsOf(start, end("Hello"), told)).at(-1)).toEqual({
      notice: "summarised",
      replyTo,
      chunks: ["-# This conversation has grown long. From now on I know its older part from a summary."],
      typing: false,
      finished: true,
    });
    expect((await lastOf({ ...told, replyTo: undefined }))?.replyTo).toBe(null);
  });

  test("what changes nothing for the reader is no view", async () => {
    expect(await chunksOf(start, says("a"), says("\n"), says("\n"), says("b"))).toEqual([[], ["a"], ["a\n\nb"]]);
  });

  test("text, then a tool, then text: what was shown stays, parted by a blank line", async () => {
    expect(
      await chunksOf(
        start,
        says("Let me see."),
        begins("search"),
        ends("search"),
        says("\n\nFound."),
        end("Let me see.\n\nFound."),
      ),
    ).toEqual([
      [],
      ["Let me see."],
      ["Let me see.\n\n-# Using `search` …"],
      ["Let me see."],
      ["Let me see.\n\nFound."],
      ["Let me see.\n\nFound."],
    ]);
  });

  test("a tool at work is shown before there is any text, the newest of several", async () => {
    expect(await chunksOf(start, begins("one"), begins("two"), ends("two"), ends("one"), says("Done"))).toEqual([
      [],
      ["-# Using `one` …"],
      ["-# Using `two` …"],
      ["-# Using `one` …"],
      [],
      ["Done"],
    ]);
  });

  test("a tool's line never makes a message of its own behind a full one", async () => {
    const text = "x".repeat(1990);
    expect(await chunksOf(start, says(text), begins("search"), ends("search"))).toEqual([[], [text]]);
  });

  test("an answer that ended early says why", async () => {
    expect((await lastOf(start, end("So", "length")))?.chunks[0]).toMatch(/^So\n\n-# .*as long as it may be/);
    expect((await lastOf(start, end("So", "content-filter")))?.chunks[0]).toMatch(/^So\n\n-# .*content filter/);
    expect((await lastOf(start, end("So", "step-limit")))?.chunks[0]).toMatch(/^So\n\n-# .*steps/);
    expect((await lastOf(start, end("So", "other")))?.chunks).toEqual(["So"]);
  });

  test("a turn that fails keeps what was shown, and adds one sentence with the reference", async () => {
    const view = await lastOf(start, says("It is"), begins("search"), fails("MODEL_FAILED"));
    expect(view).toMatchObject({ typing: false, finished: true });
    expect(view?.chunks).toHaveLength(1);
    expect(view?.chunks[0]).toMatch(/^It is\n\n[A-Z][^\n]*\(Reference: `abc123`\)$/);
    expect(view?.chunks[0]).not.toMatch(/sk-123|home/);
    expect((await lastOf(start, fails("MODEL_FAILED")))?.chunks[0]).toMatch(/^The language model/);
  });

  test("a failure behind a full message is a message of its own", async () => {
    const text = "x".repeat(1990);
    expect((await lastOf(start, says(text), fails("MODEL_FAILED")))?.chunks).toEqual([
      text,
      expect.stringMatching(/^The language model/),
    ]);
  });

  test("a turn that was stopped keeps what was said, with a small line", async () => {
    expect((await lastOf(start, says("It is"), fails("RUN_STOPPED")))?.chunks).toEqual(["It is\n\n-# Stopped."]);
  });

  test("a turn whose run was taken away is never finished", async () => {
    expect((await lastOf(start, says("It is")))?.finished).toBe(false);
  });

  test("a notice is one finished view", async () => {
    expect(await viewsOf({ type: "notice", replyTo, reason: "nothing-to-stop" })).toEqual([
      {
        notice: "nothing-to-stop",
        replyTo,
        chunks: [expect.stringMatching(/nothing to stop/)],
        typing: false,
        finished: true,
      },
    ]);
  });

  test("a notice of a failure is about that failure, whatever its reference is", async () => {
    const error = new ThreadkeeperError("STORE_BUSY", "busy");
    const failed = (reference: string): TurnEvent => ({ type: "notice", replyTo, reason: "failed", error, reference });
    const [one, other] = [await lastOf(failed("abc123")), await lastOf(failed("def456"))];
    expect(one?.chunks).not.toEqual(other?.chunks);
    expect([one?.notice, other?.notice]).toEqual(["failed STORE_BUSY", "failed STORE_BUSY"]);
  });

  test("several turns are several views, each with its own text and place", async () => {
    const second: TurnEvent[] = [
      { ...start, turn: "t2", replyTo: undefined },
      { ...says("Two"), turn: "t2" } as TurnEvent,
      { ...end("Two"), turn: "t2" },
    ];
    const views = await viewsOf(start, begins("search"), end("One"), ...second);
    expect(views.filter(({ finished }) => finished)).toMatchObject([
      { turn: "t1", chunks: ["One"], replyTo },
      { turn: "t2", chunks: ["Two"], replyTo: null },
    ]);
    expect(views.at(-2)?.chunks).toEqual(["Two"]);
  });

  test("the source is pulled past a turn's end only when its view has been drawn", async () => {
    const log: string[] = [];
    async function* source(): AsyncGenerator<TurnEvent> {
      yield start;
      yield end("Done");
      log.push("pulled past the end");
    }
    for await (const { finished } of replyViews(source())) {
      if (finished) await new Promise((resolve) => setTimeout(resolve, 5));
      if (finished) log.push("drawn");
    }
    expect(log).toEqual(["drawn", "pulled past the end"]);
  });

  test("who leaves early leaves the source too", async () => {
    let left = false;
    async function* source(): AsyncGenerator<TurnEvent> {
      try {
        yield start;
        yield says("never read to the end");
      } finally {
        left = true;
      }
    }
    for await (const _ of replyViews(source())) break;
    expect(left).toBe(true);
  });

  test("no message that is followed by another one ever changes again, and the last view shows the whole text", async () => {
    const piece = fc.oneof(
      fc.lorem({ maxCount: 40 }),
      fc.constantFrom("\n\n", "```js\n", "\n```\n", "code();\n".repeat(60), "[a](https://example.com) ", "**b** "),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const text = pieces.join("");
        const views = await viewsOf(start, ...pieces.map(says), end(text));
        let before: readonly string[] = [];
        for (const { chunks } of views) {
          expect(chunks.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
          expect(chunks.length).toBeGreaterThanOrEqual(before.length);
          before = chunks;
        }
        expect(before).toEqual(splitText(text).map(safeText));
      }),
      { numRuns: 100 },
    );
  });
});
