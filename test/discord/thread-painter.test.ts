import { DiscordAPIError, HTTPError } from "discord.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { ThreadPainter } from "../../src/discord/thread-painter.ts";
import { silentLogger } from "../../src/log.ts";
import type { ReplyView } from "../../src/reply/reply-view.ts";
import { MemoryChannels } from "./support/memory-channel.ts";

const apology = "This answer could not be posted.";
let channels: MemoryChannels;
let painter: ThreadPainter;

beforeEach(() => {
  vi.useFakeTimers();
  channels = new MemoryChannels();
  painter = paintOn(channels);
});

afterEach(() => {
  painter.close();
  vi.useRealTimers();
});

function paintOn(writer: MemoryChannels, ownsTurns?: () => boolean): ThreadPainter {
  return new ThreadPainter({ writer, budget: new RequestBudget(), log: silentLogger, ownsTurns, apology });
}

function view(turn: string | undefined, chunks: readonly string[], extra: Partial<ReplyView> = {}): ReplyView {
  const replyTo = { channel: "thread", message: "question" };
  return { ...(turn === undefined ? {} : { turn }), replyTo, chunks, typing: true, finished: false, ...extra };
}

const finished = { typing: false, finished: true };

/** Whether a promise has resolved by now. */
function watch(promise: Promise<void>): { done: boolean } {
  const state = { done: false };
  void promise.then(() => {
    state.done = true;
  });
  return state;
}

function refused(code: number, status = 400): DiscordAPIError {
  return new DiscordAPIError({ code, message: "no" }, code, status, "POST", "http://discord", { files: [], body: {} });
}

function broken(): HTTPError {
  return new HTTPError(500, "Internal Server Error", "POST", "http://discord", { files: [], body: {} });
}

describe("the drawing of a turn", () => {
  it("begins with a reply to the message that asked, and goes on without", async () => {
    const drawn = painter.draw(view("turn", ["one", "two"], finished));
    await vi.advanceTimersByTimeAsync(1_000);
    await drawn;
    expect(channels.posted).toMatchObject([
      { content: "one", replyTo: "question", nonce: "turn.0" },
      { content: "two", replyTo: undefined, nonce: "turn.1" },
    ]);
  });

  it("resolves at once for a view that goes on, and for a finished one when it is out", async () => {
    await painter.draw(view("turn", ["one"]));
    const end = watch(painter.draw(view("turn", ["one", "two"], finished)));
    expect(end.done).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(channels.text("thread")).toEqual(["one", "two"]);
    expect(end.done).toBe(true);
  });

  it("of 2,000 pieces in 5 seconds sends about one edit a second, one at a time, and ends with the last word", async () => {
    let text = "";
    for (let piece = 0; piece < 2_000; piece += 1) {
      text = `${text}.`;
      void painter.draw(view("turn", [text]));
      await vi.advanceTimersByTimeAsync(2.5);
    }
    const end = watch(painter.draw(view("turn", [`${text} end`], finished)));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual([`${text} end`]);
    expect(channels.mostAtOnce).toBe(1);
    const edits = channels.requests.filter(({ what }) => what === "edit");
    expect(edits.length).toBeGreaterThanOrEqual(4);
    expect(edits.length).toBeLessThanOrEqual(6);
  });

  it("has its edits at least a second apart, and its end at once, however much was drawn before", async () => {
    for (let piece = 0; piece < 600; piece += 1) {
      void painter.draw(view("turn", [`piece ${piece}`]));
      await vi.advanceTimersByTimeAsync(20);
    }
    const times = channels.requests.map(({ at }) => at);
    for (const [index, at] of times.entries()) {
      if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
    }
    const end = watch(painter.draw(view("turn", ["the end"], finished)));
    await vi.advanceTimersByTimeAsync(50);
    expect(end.done).toBe(true);
  });

  it("never has more than 5 requests in 5 seconds in one channel, however many turns run in it", async () => {
    const turns = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (let second = 0; second < 20; second += 1) {
      for (const turn of turns) void painter.draw(view(turn, [`${turn} ${second}`]));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    for (const turn of turns) void painter.draw(view(turn, [`${turn} end`], finished));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(channels.text("thread").sort()).toEqual(turns.map((turn) => `${turn} end`));
    const times = channels.requests.filter(({ what }) => !what.startsWith("typ")).map(({ at }) => at);
    for (const [index, at] of times.entries()) {
      const sixth = times[index + 5];
      if (sixth !== undefined) expect(sixth - at).toBeGreaterThanOrEqual(5_000);
    }
  });

  it("moves with every other turn in its channel, none before the others", async () => {
    // The first has the channel for itself for a while, so that the places in the channel's limit come one by one.
    for (let tick = 0; tick < 400; tick += 1) {
      for (const turn of tick < 120 ? ["a"] : ["a", "b", "c"]) void painter.draw(view(turn, [`${turn} ${tick}`]));
      await vi.advanceTimersByTimeAsync(100);
    }
    const shown = channels.text("thread").map((text) => Number(text.split(" ")[1]));
    expect(Math.min(...shown)).toBeGreaterThanOrEqual(350);
  });

  it("never has more than 40 requests in a second over all channels, and every end is sent", async () => {
    const turns = Array.from({ length: 100 }, (_, index) => `t${index}`);
    for (const turn of turns) {
      void painter.draw(view(turn, ["begun"], { replyTo: { channel: turn } }));
    }
    const ends = turns.map((turn) =>
      watch(painter.draw(view(turn, ["done"], { ...finished, replyTo: { channel: turn } }))),
    );
    await vi.advanceTimersByTimeAsync(6_000);
    expect(ends.every(({ done }) => done)).toBe(true);
    for (const turn of turns) expect(channels.text(turn)).toEqual(["done"]);
    const times = channels.requests.map(({ at }) => at);
    for (const [index, at] of times.entries()) {
      const next = times[index + 40];
      if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(1_000);
    }
  });

  it("of a turn that was taken away stops, and what is there stays", async () => {
    await painter.draw(view("turn", ["so far"]));
    await vi.advanceTimersByTimeAsync(100);
    const newer = view("turn", ["so far and further"]);
    await painter.draw(newer);
    painter.drop(newer);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(channels.text("thread")).toEqual(["so far"]);
    expect(channels.requests.filter(({ what }) => what === "typing")).toEqual([]);
  });

  it("that becomes shorter takes away what is too much", async () => {
    await painter.draw(view("turn", ["one", "two", "three"]));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(channels.text("thread")).toEqual(["one", "two", "three"]);
    void painter.draw(view("turn", ["one!"], finished));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(["one!"]);
  });

  it("can end twice", async () => {
    const first = watch(painter.draw(view("turn", ["one"], finished)));
    const second = watch(painter.draw(view("turn", ["one"], finished)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([first.done, second.done]).toEqual([true, true]);
  });

  it("with nothing to show is done at once", async () => {
    await painter.draw(view("turn", [], finished));
    expect(channels.requests).toEqual([]);
  });

  it("is left out where there is no place on Discord for it", async () => {
    await painter.draw({ ...view("turn", ["one"], finished), replyTo: "elsewhere" });
    expect(channels.requests).toEqual([]);
  });

  it("calls back what is in flight when it is taken away, or the painter closes", async () => {
    for (const leave of [(last: ReplyView) => painter.drop(last), () => painter.close()]) {
      channels = new MemoryChannels();
      painter = paintOn(channels);
      const newest = view("turn", ["one"]);
      await painter.draw(newest);
      await vi.advanceTimersByTimeAsync(10);
      leave(newest);
      await vi.advanceTimersByTimeAsync(30_000);
      expect(channels.posted).toEqual([]);
      expect(channels.requests).toHaveLength(1);
    }
  });

  it("lets whoever waits go when the painter closes", async () => {
    const end = watch(painter.draw(view("turn", ["one"], finished)));
    painter.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(end.done).toBe(true);
  });
});

describe("the drawing of a turn that somebody else began", () => {
  const resumed = { resumed: true } as const;
  const chunks = ["one", "two", "three"];

  beforeEach(() => {
    channels.knowsNonces = false;
  });

  const changes = () => channels.requests.filter(({ what }) => ["send", "edit", "remove"].includes(what));

  it("goes on behind what stands, of which it posts nothing twice", async () => {
    channels.post("thread", "one", { replyTo: "question" });
    channels.post("thread", "tw");
    void painter.draw(view("turn", chunks, { ...finished, ...resumed }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(chunks);
    expect(changes().map(({ what }) => what)).toEqual(["edit", "send"]);
  });

  it("reads nothing while there is nothing to draw, and once in the beginning and once at the end then", async () => {
    await painter.draw(view("turn", [], resumed));
    await vi.advanceTimersByTimeAsync(100);
    const reads = () => channels.requests.filter(({ what }) => what === "read").length;
    expect(reads()).toBe(0);
    for (const text of ["o", "on", "one"]) {
      await painter.draw(view("turn", [text], resumed));
      await vi.advanceTimersByTimeAsync(2_000);
    }
    expect(reads()).toBe(1);
    const end = watch(painter.draw(view("turn", ["one"], { ...finished, ...resumed })));
    await vi.advanceTimersByTimeAsync(2_000);
    expect([reads(), end.done]).toEqual([2, true]);
  });

  it("never draws blind: a reading that fails is tried again, and one that fails for good is told", async () => {
    channels.post("thread", "one", { replyTo: "question" });
    channels.readFailures.push(broken(), broken());
    void painter.draw(view("turn", chunks, { ...finished, ...resumed }));
    await vi.advanceTimersByTimeAsync(600);
    expect(changes()).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(chunks);
    channels.readFailures.push(...Array.from({ length: 6 }, broken));
    const end = watch(painter.draw(view("other", ["four"], { ...finished, ...resumed })));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual([...chunks, apology]);
  });

  it("takes nothing for its own that is a notice or another turn's", async () => {
    channels.post("thread", "You are too many.", { replyTo: "question", kind: "notice" });
    channels.post("thread", "another", { replyTo: "other" });
    void painter.draw(view("turn", ["one"], { ...finished, ...resumed }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(["You are too many.", "another", "one"]);
  });

  it("takes away what the other one, which did not know yet that it was over, has still posted or changed", async () => {
    channels.post("thread", "one", { replyTo: "question" });
    await painter.draw(view("turn", ["one", "two"], resumed));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(channels.text("thread")).toEqual(["one", "two"]);
    channels.post("thread", "two");
    const [first] = channels.posted;
    if (first) first.content = "on";
    const end = watch(painter.draw(view("turn", chunks, { ...finished, ...resumed })));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual(chunks);
  });

  it("shows no less than was shown, until the end", async () => {
    for (const text of chunks) channels.post("thread", text, { replyTo: text === "one" ? "question" : undefined });
    await painter.draw(view("turn", ["o"], resumed));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(channels.text("thread")).toEqual(chunks);
    void painter.draw(view("turn", ["other"], { ...finished, ...resumed }));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(channels.text("thread")).toEqual(["other"]);
  });

  it("begins anew where this process itself had begun it and lost it", async () => {
    const before = view("turn", ["one"]);
    await painter.draw(before);
    await vi.advanceTimersByTimeAsync(2_000);
    channels.post("thread", "two");
    void painter.draw(view("turn", chunks, { ...finished, ...resumed }));
    // The stream that was lost ends late, says nothing more and takes nothing along.
    const late = view("turn", ["one and a half"]);
    void painter.draw(late);
    painter.drop(late);
    painter.drop(before);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(chunks);
  });
});

describe("typing", () => {
  const typings = () => channels.requests.filter(({ what }) => what === "typing").map(({ at }) => at);

  it("shows all along a run of 40 seconds and ends with the reply", async () => {
    const begin = Date.now();
    await painter.draw(view("turn", []));
    await vi.advanceTimersByTimeAsync(40_000);
    const shown = [...typings(), Date.now()];
    expect((shown[0] ?? 0) - begin).toBeLessThan(1_000);
    for (const [index, at] of shown.entries()) if (index > 0) expect(at - (shown[index - 1] ?? 0)).toBeLessThan(10_000);
    void painter.draw(view("turn", ["sorry"], finished));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(typings()).toHaveLength(shown.length - 1);
    expect(channels.requests.at(-1)?.what).toBe("send");
  });

  it("is not shown for an answer that comes at once, nor while the text moves", async () => {
    for (let second = 0; second < 20; second += 1) {
      void painter.draw(view("turn", [`at ${second}`]));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(typings()).toEqual([]);
  });

  it("never arrives behind the reply: a send waits for a call that is under way, but not for ever", async () => {
    for (const [typingMs, expected] of [
      [200, ["typing", "typed", "send"]],
      [60_000, ["typing", "send"]],
    ] as const) {
      channels = new MemoryChannels();
      channels.typingMs = typingMs;
      const painter = paintOn(channels);
      void painter.draw(view("turn", []));
      await vi.advanceTimersByTimeAsync(350);
      void painter.draw(view("turn", ["done"], finished));
      await vi.advanceTimersByTimeAsync(2_000);
      expect(channels.requests.map(({ what }) => what)).toEqual(expected);
    }
  });

  it("is shown at once for a second turn in a channel where another has just ended", async () => {
    void painter.draw(view("one", ["done"], finished));
    await vi.advanceTimersByTimeAsync(1_000);
    void painter.draw(view("two", []));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(typings()).toHaveLength(1);
  });

  it("is left out when the budget runs low, and shown when there is room again", async () => {
    const budget = new RequestBudget();
    const ends = Array.from({ length: 20 }, () => budget.tryBegin("final"));
    const painter = new ThreadPainter({ writer: channels, budget, log: silentLogger, apology });
    void painter.draw(view("turn", []));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(typings()).toEqual([]);
    for (const end of ends) end?.();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(typings()).toHaveLength(1);
    painter.close();
  });

  it("is shown again when the text stands still, as a tool works", async () => {
    void painter.draw(view("turn", ["let me look"]));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(typings().length).toBeGreaterThanOrEqual(1);
  });
});

describe("a chunk that fails", () => {
  const five = ["one", "two", "three", "four", "five"];

  it("is tried again in order: the third of five meets a 500", async () => {
    channels.failures.push(undefined, undefined, broken(), broken());
    const end = watch(painter.draw(view("turn", five, finished)));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual(five);
  });

  it("but whose message stands, since only the answer was lost, is not posted twice, and ends with the newest words", async () => {
    for (const knowsNonces of [true, false]) {
      channels = new MemoryChannels();
      channels.knowsNonces = knowsNonces;
      const painter = paintOn(channels);
      channels.loseAnswer(broken());
      await painter.draw(view("turn", ["one"]));
      await vi.advanceTimersByTimeAsync(100);
      void painter.draw(view("turn", ["one and more", "two"], finished));
      await vi.advanceTimersByTimeAsync(20_000);
      expect(channels.text("thread")).toEqual(["one and more", "two"]);
    }
  });

  it("for good is told in a short notice, and nothing after it is posted", async () => {
    channels.failures.push(undefined, undefined, ...Array.from({ length: 6 }, broken));
    const end = watch(painter.draw(view("turn", five, finished)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual(["one", "two", apology]);
  });

  it("and whose notice fails too is left at that", async () => {
    channels.failures.push(...Array.from({ length: 40 }, () => refused(50035)));
    void painter.draw(view("turn", five, finished));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(channels.requests).toHaveLength(2);
  });

  it("because the thread is locked is not tried again, whatever comes", async () => {
    channels.failures.push(refused(50083, 403));
    await painter.draw(view("turn", ["one"]));
    await vi.advanceTimersByTimeAsync(100);
    await painter.draw(view("turn", ["one, two"]));
    const end = watch(painter.draw(view("turn", ["one, two, three"], finished)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(end.done).toBe(true);
    expect(channels.requests.filter(({ what }) => !what.startsWith("typ"))).toHaveLength(1);
    // The next turn is tried afresh: the thread may be open again.
    void painter.draw(view("next", ["hello"], finished));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(channels.text("thread")).toEqual(["hello"]);
  });

  it("because somebody takes no direct messages is not apologised for, which would fail alike", async () => {
    channels.failures.push(refused(50007, 403));
    const end = watch(painter.draw(view("turn", ["one"], finished)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(end.done).toBe(true);
    expect(channels.text("thread")).toEqual([]);
  });

  it("because somebody deleted the message stays deleted, and what is behind it goes on", async () => {
    await painter.draw(view("turn", ["one"]));
    await vi.advanceTimersByTimeAsync(1_000);
    channels.posted.pop();
    channels.failures.push(refused(10008, 404));
    await painter.draw(view("turn", ["one more"]));
    await vi.advanceTimersByTimeAsync(2_000);
    void painter.draw(view("turn", ["one more time", "two"], finished));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(channels.text("thread")).toEqual(["two"]);
  });

  it("does not hold up another turn in the same channel", async () => {
    channels.failures.push(broken());
    void painter.draw(view("turn", ["one"], finished));
    await vi.advanceTimersByTimeAsync(30);
    const replyTo = { channel: "thread", message: "next" };
    void painter.draw(view("other", ["hello"], { ...finished, replyTo }));
    await vi.advanceTimersByTimeAsync(100);
    expect(channels.text("thread")).toEqual(["hello"]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(channels.text("thread")).toEqual(["hello", "one"]);
  });
});

describe("a turn that may be somebody else's by now", () => {
  it("is drawn no further, and nobody waits for it; a notice is", async () => {
    let owns = true;
    painter = paintOn(channels, () => owns);
    await painter.draw(view("turn", ["one"]));
    await vi.advanceTimersByTimeAsync(300);
    await painter.draw(view("turn", ["one, two"]));
    const other = watch(painter.draw(view("other", ["hello"], finished)));
    owns = false;
    const end = watch(painter.draw(view("turn", ["one, two, three"], finished)));
    void painter.draw(view(undefined, ["The memory can't be reached."], finished));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(channels.text("thread")).toEqual(["one", "The memory can't be reached."]);
    expect([end.done, other.done]).toEqual([true, true]);
    owns = true;
    void painter.draw(view("next", ["again"], finished));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(channels.text("thread")).toEqual(["one", "The memory can't be reached.", "again"]);
  });
});
