import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent, CallFailed } from "../../src/agent/agent-event.ts";
import { defineTool } from "../../src/agent/tool.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { type AgentRoom, agentRoom, drain, eventually, type RoomOptions, shape } from "../support/agent-room.ts";
import { growingModel } from "../support/growing-model.ts";
import { forever, type ScriptedStep } from "../support/scripted-model.ts";

const room = { sessionId: "room" };
/** A turn that makes some 1,100 bytes; the model reports a token for four of them. */
const long = (place: number) => `question ${place} ${"x".repeat(900)}`;
const answer = (place: number): ScriptedStep => [`answer ${place}`];
const answers = (count: number) => Array.from({ length: count }, (_, place) => answer(place));

/** A budget of 8,000 bytes, since the scripted model reports so little that one token to eight bytes is believed. */
function smallRoom(steps: readonly ScriptedStep[], options: RoomOptions = {}): Promise<AgentRoom> {
  return agentRoom(steps, { windowTokens: 1_000, ...options });
}

async function say(all: AgentRoom, from: number, to: number): Promise<void> {
  for (let place = from; place <= to; place += 1) {
    await all.agent.run(long(place), room);
    await all.agent.idle();
  }
}

async function summaryOf({ sessions }: AgentRoom) {
  return (await sessions.get("room"))?.summary;
}

/** The first turn whose call is past the budget: seven fit. */
const past = 7;

describe("a session that grows past its budget", () => {
  it("has its older turns summarised behind the turn, in one commit; the next call begins with the summary", async () => {
    const all = await smallRoom([...answers(past + 1), ["They counted."], answer(8)]);
    await say(all, 0, past);
    expect(all.model.promptOf(past)).toContain("question 0");
    const request = all.model.promptOf(past + 1);
    expect(request).toContain('{"said":"question 0 ');
    expect(request).not.toContain(`question ${past}`);
    const summary = await summaryOf(all);
    expect(summary?.text).toBe("They counted.");
    const session = await all.sessions.get("room");
    expect(session?.events[0]).toMatchObject({ seq: summary?.upTo, message: { role: "user" } });
    await say(all, 8, 8);
    const prompt = all.model.promptOf(past + 2);
    expect(prompt).toMatch(/^system: [\s\S]*\nuser: <summary>\nThey counted\.\n<\/summary>\nuser: <said/);
    expect(prompt).not.toContain("question 0");
    expect(prompt).toContain(`question ${past}`);
    all.model.assertComplete();
  });

  it("keeps about half of the budget, and every turn that it keeps whole", async () => {
    const all = await smallRoom([...answers(past + 1), ["They counted."]]);
    await say(all, 0, past);
    const events = (await all.sessions.get("room"))?.events ?? [];
    const bytes = events.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);
    expect(bytes).toBeGreaterThan(2_000);
    expect(bytes).toBeLessThan(4_000);
    expect(events.length % 2).toBe(0);
  });

  it("goes on so for good: each summary is made of the one before, and the bytes stay the same until it moves", async () => {
    const turns = 40;
    const model = growingModel((request) => `summary ${request}`);
    const all = await smallRoom([], { model: model.model });
    for (let place = 0; place < turns; place += 1) {
      await all.agent.run(long(place), room);
      await all.agent.idle();
    }
    expect(model.requests.length).toBeGreaterThan(5);
    expect(model.requests.length).toBeLessThan(turns / 2);
    const heads = model.turns.map((prompt) => /<summary>\n(.*)\n<\/summary>/.exec(prompt)?.[1]);
    expect(heads.at(-1)).toMatch(/^summary \d+$/);
    for (const [place, prompt] of model.turns.entries()) {
      expect(prompt.length).toBeLessThan(14_000);
      const before = model.turns[place - 1];
      if (before && heads[place] === heads[place - 1]) expect(prompt.startsWith(before)).toBe(true);
    }
    for (const [place, request] of model.requests.entries()) {
      if (place > 0) expect(request).toContain(`summary ${place - 1}`);
    }
  });

  it("with a result far larger than the budget still knows what was said before it", async () => {
    const huge = defineTool({
      name: "huge",
      description: "A lot.",
      input: z.object({}),
      run: () => "x".repeat(60_000),
    });
    const steps = [answer(0), [{ tool: "huge", input: {} }], answer(1), answer(2)];
    const all = await smallRoom(steps, { tools: [huge] });
    for (const text of ["The parrot is called Coco.", "Show me all.", "And now?"]) await all.agent.run(text, room);
    expect(all.model.promptOf(3)).toContain("Coco");
    expect(all.model.promptOf(3).startsWith(all.model.promptOf(2))).toBe(true);
    all.model.assertComplete();
  });

  it("holds up nobody: a message that comes while it is summarised is answered with what was known before", async () => {
    const all = await smallRoom([...answers(past + 1), [forever], answer(8)]);
    for (let place = 0; place <= past; place += 1) await all.agent.run(long(place), room);
    await eventually(() => expect(all.model.calls).toHaveLength(past + 2));
    expect((await all.agent.run(long(8), room))?.text).toBe("answer 8");
    expect(all.model.promptOf(past + 2)).toContain("question 0");
    expect(await summaryOf(all)).toBeUndefined();
    all.model.assertComplete();
    all.agent.retire();
    await all.agent.idle();
    expect(await summaryOf(all)).toBeUndefined();
  });
});

describe("a summary that can't be made", () => {
  const down = new Error("down");

  it("is tried again behind the next turns; then the oldest are left out, and the model is told so", async () => {
    const all = await smallRoom([
      ...answers(past + 1),
      ...[8, 9, 10, 11].flatMap((place) => [[down], answer(place)]),
      [down],
      answer(12),
    ]);
    await say(all, 0, 10);
    expect(await summaryOf(all)).toBeUndefined();
    await say(all, 11, 11);
    const summary = await summaryOf(all);
    expect(summary).toEqual({ upTo: expect.any(Number) });
    await say(all, 12, 12);
    expect(all.model.promptOf(all.model.calls.length - 1)).toContain(
      "user: <summary>\nThe older part of this conversation is not shown.\n</summary>",
    );
    all.model.assertComplete();
  });

  it("leaves the one that was there before", async () => {
    const model = growingModel((request) => (request === 0 ? "The first." : ""));
    const all = await smallRoom([], { model: model.model });
    await say(all, 0, 30);
    expect(model.requests.length).toBeGreaterThan(3);
    expect((await summaryOf(all))?.text).toBe("The first.");
    expect((await summaryOf(all))?.upTo).toBeGreaterThan(20);
  });
});

describe("a model that hangs at a summary", () => {
  it("is given up at the deadline, and that is a line in the log", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
    const all = await smallRoom([...answers(past + 1), [forever]], { log, deadlineMs: 1_000 });
    await say(all, 0, past);
    const line = lines.map((each) => JSON.parse(each)).find(({ level }) => level === 40);
    expect(line).toMatchObject({ code: "RUN_DEADLINE", sessionId: "room", upTo: expect.any(Number) });
    expect(lines.join("")).not.toContain("xxx");
  });
});

describe("what people are told", () => {
  async function tell(all: AgentRoom, from: number, to: number): Promise<(AgentEvent | CallFailed)[]> {
    const told: (AgentEvent | CallFailed)[] = [];
    for (let place = from; place <= to; place += 1) {
      const { events } = await drain(all.agent.stream(long(place), { ...room, replyTo: `place ${place}` }));
      told.push(...events.filter(({ type }) => type === "summarised"));
    }
    return told;
  }

  it("is that the older part is known from a summary: once, behind the turn that grew too long, also over restarts", async () => {
    const model = growingModel(() => "They counted.");
    const before = await smallRoom([], { model: model.model });
    expect(await tell(before, 0, 8)).toMatchObject([
      { type: "summarised", replyTo: `place ${past}`, older: "summary" },
    ]);
    await before.sessions.close();
    const next = await smallRoom([], { model: model.model, store: before.store });
    expect(await tell(next, 9, 30)).toEqual([]);
    expect(model.requests.length).toBeGreaterThan(2);
  });

  it("comes last, when the turn is finished", async () => {
    const all = await smallRoom([...answers(past + 1), ["They counted."]]);
    await say(all, 0, past - 1);
    const { events } = await drain(all.agent.stream(long(past), room));
    expect(shape(events)).toEqual(["turn-start", `text "answer ${past}"`, "turn-end stop", "summarised"]);
  });

  it("is that it is not known at all, where no summary could be made", async () => {
    const model = growingModel(() => "");
    const all = await smallRoom([], { model: model.model });
    expect(await tell(all, 0, 14)).toMatchObject([{ older: "nothing" }]);
  });

  it("is nothing to a reader who goes away before it is known", async () => {
    const all = await smallRoom([...answers(past + 1), [forever]]);
    await say(all, 0, past - 1);
    const stop = new AbortController();
    const stream = drain(all.agent.stream(long(past), { ...room, signal: stop.signal }));
    await eventually(() => expect(all.model.calls).toHaveLength(past + 2));
    stop.abort();
    expect(shape((await stream).events).at(-1)).toBe("turn-end stop");
    all.agent.retire();
  });
});

describe("a summary in the making", () => {
  async function making(options: RoomOptions = {}) {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const all = await smallRoom([...answers(past + 1), [held, "They counted."], answer(8)], options);
    await say(all, 0, past - 1);
    await all.agent.run(long(past), room);
    await eventually(() => expect(all.model.calls).toHaveLength(past + 2));
    return { ...all, release };
  }

  it("is one at a time in a session", async () => {
    const all = await making();
    await all.agent.run(long(8), room);
    expect(all.model.calls).toHaveLength(past + 3);
    all.release();
    await all.agent.idle();
    expect((await summaryOf(all))?.text).toBe("They counted.");
    all.model.assertComplete();
  });

  it("of a session that is reset meanwhile changes nothing", async () => {
    const all = await making();
    await all.sessions.reset("room");
    all.release();
    await all.agent.idle();
    expect(await all.sessions.get("room")).toMatchObject({ events: [] });
    expect(await summaryOf(all)).toBeUndefined();
  });

  it("is given up by a shutdown, and made behind a later turn", async () => {
    const all = await making();
    all.agent.retire();
    await all.agent.idle();
    expect(await summaryOf(all)).toBeUndefined();
    const next = await smallRoom([answer(9), ["They counted."]], { sessions: all.sessions });
    await say(next, 9, 9);
    expect((await summaryOf(next))?.text).toBe("They counted.");
    all.release();
  });

  it("that the store does not take is a line in the log", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "debug", destination: { write: (line) => void lines.push(line) } });
    const down = new ThreadkeeperError("STORE_UNAVAILABLE", "the store is down");
    const all = await making({ log, override: () => ({ summarise: () => Promise.reject(down) }) });
    all.release();
    await all.agent.idle();
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 40, code: "STORE_UNAVAILABLE", sessionId: "room" }),
    );
    expect(lines.join("")).not.toContain("xxx");
  });
});
