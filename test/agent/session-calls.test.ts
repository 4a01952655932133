import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent, CallFailed } from "../../src/agent/agent-event.ts";
import { defineTool } from "../../src/agent/tool.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { type AgentRoom, agentRoom, drain, eventually, shape, transcript } from "../support/agent-room.ts";
import { CutStore } from "../support/cut-store.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { forever, scriptedModel } from "../support/scripted-model.ts";

const room = { sessionId: "room" };
const storeDown = new ThreadkeeperError("STORE_UNAVAILABLE", "the store is down");

/** A promise, and what resolves it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function taken({ takes }: AgentRoom, ...outcomes: string[]): Promise<void> {
  return eventually(() => expect(takes).toEqual(outcomes));
}

function asked({ model }: AgentRoom, calls: number): Promise<void> {
  return eventually(() => expect(model.calls).toHaveLength(calls));
}

/** A call that comes while another one runs, and goes away while it waits. Its input is stored. */
async function comesAndGoes(all: AgentRoom, input: string): Promise<void> {
  const leave = new AbortController();
  const call = all.agent.run(input, { ...room, signal: leave.signal });
  await taken(all, "run", "waiting");
  leave.abort();
  await expect(call).rejects.toMatchObject({ code: "RUN_STOPPED" });
}

describe("inputs that come in a run", () => {
  it("one that is erased, or whose session is reset, while it waits comes to nothing, and its call ends", async () => {
    for (const forget of ["erase", "reset"] as const) {
      const first = gate();
      const all = await agentRoom([[first.opened, "answer one"], ["answer three"]]);
      const one = drain(all.agent.stream("first", room));
      await asked(all, 1);
      const two = drain(all.agent.stream("second", { ...room, eventId: "2" }));
      await taken(all, "run", "waiting");
      if (forget === "erase") await all.sessions.erase(["2"]);
      else await all.sessions.reset("room");
      first.open();
      expect(shape((await two).events)).toEqual([]);
      await one;
      expect((await all.agent.run("third", room))?.text).toBe("answer three");
    }
  });

  it("a second input waits and is answered after the first, in order", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["answer two"]]);
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    const two = drain(all.agent.stream("second", room));
    await taken(all, "run", "waiting");
    first.open();
    expect(shape((await one).events)).toEqual(["turn-start", 'text "answer one"', "turn-end stop"]);
    expect(shape((await two).events)).toEqual(["turn-start", 'text "answer two"', "turn-end stop"]);
    expect(await transcript(all.sessions)).toEqual([
      "user: first",
      "assistant: answer one",
      "user: second",
      "assistant: answer two",
    ]);
  });

  it("that wait are no leak, however many of them there are", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["all others"]]);
    const warned = vi.spyOn(process, "emitWarning");
    const stop = new AbortController();
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const others = Array.from({ length: 30 }, (_, index) =>
      all.agent.run(`word ${index}`, { ...room, ...(index % 2 === 0 && { signal: stop.signal }) }),
    );
    await taken(all, "run", ...others.map(() => "waiting"));
    first.open();
    await one;
    expect(new Set((await Promise.all(others)).map((result) => result?.text))).toEqual(new Set(["all others"]));
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it("one turn answers all that waits: one call yields it, the others yield nothing and return its result", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["both"]]);
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = drain(all.agent.stream("second", { ...room, replyTo: "place two" }));
    await taken(all, "run", "waiting");
    const three = drain(all.agent.stream("third", { ...room, replyTo: "place three" }));
    await taken(all, "run", "waiting", "waiting");
    first.open();
    await one;
    const second = await two;
    const third = await three;
    expect(shape(second.events)).toEqual(["turn-start", 'text "both"', "turn-end stop"]);
    expect(second.events[0]).toMatchObject({
      replyTo: "place three",
      inputs: [{ replyTo: "place two" }, { replyTo: "place three" }],
    });
    expect(third.events).toEqual([]);
    expect(third.result).toEqual(second.result);
    expect(all.model.promptOf(1)).toMatch(/second[\s\S]*third/);
  });

  it("a failed turn fails every call that it covered", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], [new Error("broken")]]);
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    const three = all.agent.run("third", room);
    await taken(all, "run", "waiting", "waiting");
    first.open();
    await one;
    await expect(two).rejects.toMatchObject({ code: "MODEL_FAILED" });
    await expect(three).rejects.toMatchObject({ code: "MODEL_FAILED" });
  });

  it("past the bound a call is told that the queue is full, and nothing of it is stored", async () => {
    const first = gate();
    const sessions = await openSessions({ store: openMemoryStore(), maxWaiting: 1 });
    const lines: string[] = [];
    const log = createLogger({ level: "debug", destination: { write: (line) => void lines.push(line) } });
    const all = await agentRoom([[first.opened, "answer one"], ["answer two"]], { sessions, log });
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    const { events } = await drain(all.agent.stream("third", room));
    expect(events).toMatchObject([{ type: "call-failed", error: { code: "QUEUE_FULL", fields: { limit: 1 } } }]);
    // It is no fault of anybody's.
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 30, code: "QUEUE_FULL" }]);
    first.open();
    await Promise.all([one, two]);
    expect(await transcript(sessions)).not.toContain("user: third");
  });

  it("a call says when the store has its input, so that later ones come behind it", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "one"], ["two"]]);
    const order: string[] = [];
    const note = (name: string) => ({ ...room, onTaken: () => void order.push(`${name} ${all.takes.length}`) });
    const one = all.agent.run("first", note("first"));
    await asked(all, 1);
    const two = all.agent.run("second", note("second"));
    await taken(all, "run", "waiting");
    await drain(all.agent.resume("room", note("resume")));
    expect(order).toEqual(["first 1", "second 2", "resume 3"]);
    held.open();
    await Promise.all([one, two]);
  });

  it("sessions run side by side", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "slow"], ["quick"]]);
    const slow = all.agent.run("one", room);
    await asked(all, 1);
    expect((await all.agent.run("two", { sessionId: "other", create: true }))?.text).toBe("quick");
    held.open();
    expect((await slow)?.text).toBe("slow");
  });
});

describe("a tool", () => {
  it("is told who asked only if it was one person", async () => {
    const [ada, ben] = [
      { id: "1", name: "Ada" },
      { id: "2", name: "Ben" },
    ];
    const told: unknown[] = [];
    const tool = defineTool({
      name: "ban",
      description: "Bans a member.",
      input: z.object({}),
      run: (_input, { author }) => {
        told.push(author);
        return "done";
      },
    });
    const first = gate();
    const call = [{ tool: "ban", input: {} }];
    const steps = [[first.opened, ...call], ["one"], call, ["two"]];
    const all = await agentRoom(steps, { tools: [tool] });
    const one = all.agent.run("ban x", { ...room, author: ada });
    await asked(all, 1);
    const two = all.agent.run("ban y", { ...room, author: ben });
    await taken(all, "run", "waiting");
    const three = all.agent.run("thanks", { ...room, author: ada });
    await taken(all, "run", "waiting", "waiting");
    first.open();
    await Promise.all([one, two, three]);
    expect(told).toEqual([ada, undefined]);
  });
});

describe("the same input twice", () => {
  it("while it is answered, the second call returns that turn's result", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "once"]]);
    const one = all.agent.run("hi", { ...room, eventId: "e1" });
    await asked(all, 1);
    const two = drain(all.agent.stream("hi", { ...room, eventId: "e1" }));
    await taken(all, "run", "known");
    held.open();
    expect((await two).events).toEqual([]);
    expect((await two).result).toEqual(await one);
    all.model.assertComplete();
  });

  it("while it waits, both calls come to the same turn", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "first"], ["once"]]);
    const zero = all.agent.run("before", room);
    await asked(all, 1);
    const one = all.agent.run("hi", { ...room, eventId: "e1" });
    await taken(all, "run", "waiting");
    const two = all.agent.run("hi", { ...room, eventId: "e1" });
    await taken(all, "run", "waiting", "known");
    held.open();
    await zero;
    expect((await one)?.text).toBe("once");
    expect(await two).toEqual(await one);
    all.model.assertComplete();
  });

  it("after it was answered, the second call comes to nothing", async () => {
    const all = await agentRoom([["once"]]);
    await all.agent.run("hi", { ...room, eventId: "e1" });
    expect(await all.agent.run("hi", { ...room, eventId: "e1" })).toBeUndefined();
    all.model.assertComplete();
  });
});

describe("a waiting caller that goes away", () => {
  it("its input is answered all the same, by whoever finishes", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["answer two"]]);
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    await comesAndGoes(all, "second");
    first.open();
    const { events, result } = await one;
    expect(shape(events)).toEqual([
      "turn-start",
      'text "answer one"',
      "turn-end stop",
      "turn-start",
      'text "answer two"',
      "turn-end stop",
    ]);
    expect(result?.text).toBe("answer one");
  });

  it("a consumer that breaks off while it waits is let go at once", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["answer two"]]);
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    const two = all.agent.stream("second", room);
    const pulled = two.next();
    await taken(all, "run", "waiting");
    await two.return(undefined);
    expect(await pulled).toEqual({ done: true, value: undefined });
    first.open();
    expect(shape((await one).events)).toContain('text "answer two"');
  });

  it("and who finishes was stopped: its input is left to who takes the session up next", async () => {
    const all = await agentRoom([["half", forever], ["answer two"]]);
    const stop = new AbortController();
    const one = drain(all.agent.stream("first", { ...room, signal: stop.signal }));
    await asked(all, 1);
    await comesAndGoes(all, "second");
    stop.abort();
    expect(shape((await one).events)).toEqual(["turn-start", 'text "half"', "turn-failed RUN_STOPPED"]);
    expect(shape((await drain(all.agent.resume("room"))).events)).toEqual([
      "turn-start",
      'text "answer two"',
      "turn-end stop",
    ]);
  });
});

describe("a consumer that stops pulling", () => {
  it("aborts the model's call, keeps what was said and frees the session", async () => {
    const all = await agentRoom([["half", forever], ["whole"]]);
    for await (const event of all.agent.stream("first", room)) if (event.type === "text-delta") break;
    expect(all.model.abandoned).toBe(1);
    expect(await transcript(all.sessions)).toEqual(["user: first", "assistant: half"]);
    expect((await all.agent.run("second", room))?.text).toBe("whole");
  });

  it("may leave while the provider hangs", async () => {
    const all = await agentRoom([[forever], ["whole"]]);
    const stream = all.agent.stream("first", room);
    await stream.next();
    const hanging = stream.next();
    await asked(all, 1);
    await stream.return(undefined);
    expect((await hanging).value).toMatchObject({ type: "turn-failed", error: { code: "RUN_STOPPED" } });
    expect((await all.agent.run("second", room))?.text).toBe("whole");
  });

  it("may throw into the stream, which ends the run the same way", async () => {
    const all = await agentRoom([["half", forever], ["whole"]]);
    const stream = all.agent.stream("first", room);
    await stream.next();
    await stream.next();
    await expect(stream.throw(new Error("painter"))).rejects.toThrow("painter");
    expect((await all.agent.run("second", room))?.text).toBe("whole");
  });

  it("at turn-end the turn counts, and nothing runs unheard: what waits is left to who comes next", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "answer one"], ["answer two and three"]]);
    const stream = all.agent.stream("first", room);
    await stream.next();
    const text = stream.next();
    await asked(all, 1);
    await comesAndGoes(all, "second");
    first.open();
    await text;
    expect((await stream.next()).value).toMatchObject({ type: "turn-end" });
    await stream.return(undefined);
    expect(all.model.calls).toHaveLength(1);
    expect((await all.agent.run("third", room))?.text).toBe("answer two and three");
    expect(await transcript(all.sessions)).toEqual([
      "user: first",
      "assistant: answer one",
      "user: second",
      "user: third",
      "assistant: answer two and three",
    ]);
  });

  it("does not take along whose input the turn answers too: the next of them goes on with it", async () => {
    const first = gate();
    const tool = defineTool({ name: "roll", description: "Rolls dice.", input: z.object({}), run: () => "six" });
    const all = await agentRoom(
      [[first.opened, "one"], [{ tool: "roll", input: {} }], ["half", forever], ["for all of you"]],
      { tools: [tool] },
    );
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = all.agent.stream("second", room);
    const start = two.next();
    await taken(all, "run", "waiting");
    const three = drain(all.agent.stream("third", room));
    await taken(all, "run", "waiting", "waiting");
    first.open();
    await one;
    await start;
    for (let value: unknown; !String(JSON.stringify(value)).includes("half"); ) ({ value } = await two.next());
    await two.return(undefined);
    const { events } = await three;
    expect(shape(events)).toEqual(["turn-start", 'text "for all of you"', "turn-end stop"]);
    expect(events[0]).toEqual({ ...(await start).value, resumed: true });
    expect(await transcript(all.sessions)).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "user: third",
      "call roll {}",
      'result roll "six"',
      "assistant: for all of you",
    ]);
  });

  it("nor those of whom no call is left: the session keeps them for who comes next", async () => {
    const all = await agentRoom([["half", forever], ["hello"], ["yes"]]);
    const before = await openSessions({ store: all.store, ownerId: "gone" });
    await before.take("room", { id: "e1", content: "hello" });
    await before.close();
    for await (const event of all.agent.resume("room")) if (event.type === "text-delta") break;
    expect(await transcript(all.sessions)).toEqual(["user: hello"]);
    const { events, result } = await drain(all.agent.stream("still there?", { ...room, eventId: "e2" }));
    const starts = events.filter(({ type }) => type === "turn-start");
    expect(starts).toMatchObject([{ inputs: [{ id: "e1" }] }, { inputs: [{ id: "e2" }] }]);
    expect(shape(events)).toEqual([
      ...["turn-start", 'text "hello"', "turn-end stop"],
      ...["turn-start", 'text "yes"', "turn-end stop"],
    ]);
    expect(result?.text).toBe("yes");
  });
});

describe("pulling past turn-end", () => {
  it("is what finishes the run: until then the session is taken", async () => {
    const all = await agentRoom([["one"], ["two"]]);
    const stream = all.agent.stream("first", room);
    for (let type = ""; type !== "turn-end"; ) {
      const { value } = await stream.next();
      if (value && "type" in value) type = value.type;
    }
    expect(await transcript(all.sessions)).toEqual(["user: first", "assistant: one"]);
    const second = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    expect((await stream.next()).done).toBe(true);
    expect((await second)?.text).toBe("two");
  });
});

describe("a reset in a run", () => {
  it("ends the run silently: nothing is stored or told, and the next turn starts empty", async () => {
    const held = gate();
    const all = await agentRoom([["late ", held.opened, "answer"], ["fresh"]]);
    const stop = new AbortController();
    const stream = drain(all.agent.stream("first", { ...room, signal: stop.signal }));
    await asked(all, 1);
    await all.sessions.reset("room");
    stop.abort(new ThreadkeeperError("RUN_LOST", "forgotten"));
    expect(shape((await stream).events).filter((word) => word.startsWith("turn-"))).toEqual(["turn-start"]);
    expect(await transcript(all.sessions)).toEqual([]);
    await all.agent.run("second", room);
    expect(all.model.promptOf(1)).not.toContain("first");
    expect(await transcript(all.sessions)).toEqual(["user: second", "assistant: fresh"]);
  });

  it("is found out at the save if nobody says so, and `run` throws it", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "late answer"]]);
    const run = all.agent.run("first", room);
    await asked(all, 1);
    await all.sessions.reset("room");
    held.open();
    await expect(run).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await transcript(all.sessions)).toEqual([]);
  });

  it("a failure of a run that was taken away meanwhile is not told either", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, new Error("broken")]]);
    const stream = drain(all.agent.stream("first", room));
    await asked(all, 1);
    await all.sessions.reset("room");
    held.open();
    expect(shape((await stream).events)).toEqual(["turn-start"]);
  });

  it("calls that wait for a turn that will not come are let go", async () => {
    const all = await agentRoom([[forever]]);
    const stop = new AbortController();
    const one = all.agent.run("first", { ...room, signal: stop.signal });
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    await all.sessions.reset("room");
    stop.abort(new ThreadkeeperError("RUN_LOST", "forgotten"));
    await expect(one).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await two).toBeUndefined();
  });
});

describe("resume", () => {
  it("takes up what waits, without a new input", async () => {
    const all = await agentRoom([["taken up"]]);
    const before = await openSessions({ store: all.store, ownerId: "gone" });
    await before.take("room", { id: "e1", content: "hello", replyTo: "place" });
    await before.close();
    const { events, result } = await drain(all.agent.resume("room"));
    expect(shape(events)).toEqual(["turn-start", 'text "taken up"', "turn-end stop"]);
    expect(events[0]).toMatchObject({ replyTo: "place" });
    expect(result?.text).toBe("taken up");
  });

  it("does nothing where nothing waits, or somebody runs", async () => {
    const held = gate();
    const all = await agentRoom([[held.opened, "one"]]);
    expect(await drain(all.agent.resume("room"))).toEqual({ events: [], result: undefined });
    const one = all.agent.run("first", room);
    await asked(all, 1);
    expect(await drain(all.agent.resume("room"))).toEqual({ events: [], result: undefined });
    held.open();
    await one;
  });
});

describe("another process", () => {
  it("that runs on the session answers the input: the call comes to nothing here", async () => {
    const all = await agentRoom([]);
    const other = await openSessions({ store: all.store });
    await other.take("room", { id: "e1", content: "hello" });
    expect(await drain(all.agent.stream("second", room))).toEqual({ events: [], result: undefined });
    expect(all.takes).toEqual(["waiting", "idle"]);
  });

  it("that answers it later through its own agent sees both inputs in one turn", async () => {
    const held = gate();
    const all = await agentRoom([]);
    const model = scriptedModel([[held.opened, "one"], ["two"]]);
    const other = new Agent({ model, sessions: await openSessions({ store: all.store }) });
    const one = drain(other.stream("first", room));
    await eventually(() => expect(model.calls).toHaveLength(1));
    await all.agent.run("second", room);
    held.open();
    expect(shape((await one).events).filter((word) => word.startsWith("text"))).toEqual(['text "one"', 'text "two"']);
  });
});

describe("a run that is lost in the middle of a step", () => {
  it("to another process that takes it away ends silently, and the model's call with it", async () => {
    const store = openMemoryStore();
    const all = await agentRoom([["half", forever], ["both"]], {
      sessions: await openSessions({ store, takeOverMs: 400 }),
    });
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    const other = await openSessions({ store });
    await other.interrupt("room");
    expect(shape((await one).events)).toEqual(["turn-start", 'text "half"']);
    expect(all.model.abandoned).toBe(1);
    expect((await all.agent.run("second", room))?.text).toBe("both");
    await all.sessions.close();
    await other.close();
  });

  it("because the store is away ends silently, is answered when it is back, and so is what waits", async () => {
    const store = new CutStore(openMemoryStore());
    const sessions = await openSessions({ store, takeOverMs: 400 });
    const all = await agentRoom([["half", forever], ["whole"], ["next"]], { sessions });
    const resumed: ReturnType<typeof drain<AgentEvent | CallFailed, unknown>>[] = [];
    sessions.onUnfinished((ids) => resumed.push(...ids.map((id) => drain(all.agent.resume(id)))));
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    const two = drain(all.agent.stream("second", room));
    await taken(all, "run", "waiting");
    store.isCut = true;
    expect(shape((await one).events)).toEqual(["turn-start", 'text "half"']);
    // It can't know that its input is safe.
    expect(shape((await two).events)).toEqual(["call-failed STORE_UNAVAILABLE"]);
    store.isCut = false;
    await eventually(() => expect(resumed).toHaveLength(1));
    expect((await resumed[0])?.events[0]).toEqual({ ...(await one).events[0], resumed: true });
    expect(await transcript(sessions)).toEqual([
      ...["user: first", "assistant: whole"],
      ...["user: second", "assistant: next"],
    ]);
    await sessions.close();
  });
});

describe("shutdown", () => {
  const shutdown = () => new ThreadkeeperError("RUN_SHUTDOWN", "the process stops");

  it("leaves the run that is under way, and what waits, for the process that comes after", async () => {
    const all = await agentRoom([["half", forever]]);
    const stop = new AbortController();
    const one = drain(all.agent.stream("first", { ...room, signal: stop.signal }));
    await asked(all, 1);
    const two = drain(all.agent.stream("second", { ...room, signal: stop.signal }));
    await taken(all, "run", "waiting");
    stop.abort(shutdown());
    expect(shape((await one).events)).toEqual(["turn-start", 'text "half"']);
    expect((await two).events).toEqual([]);
    await all.sessions.close();
    const next = await agentRoom([["whole"], ["after the restart"]], { store: all.store });
    const { events } = await drain(next.agent.resume("room"));
    expect(events[0]).toEqual({ ...(await one).events[0], resumed: true });
    expect(shape(events)).toEqual([
      ...["turn-start", 'text "whole"', "turn-end stop"],
      ...["turn-start", 'text "after the restart"', "turn-end stop"],
    ]);
    expect(await transcript(next.sessions)).toEqual([
      ...["user: first", "assistant: whole"],
      ...["user: second", "assistant: after the restart"],
    ]);
  });

  it("that reaches a call before its turn begins leaves it for who comes after", async () => {
    const stop = new AbortController();
    const all = await agentRoom([["one"], ["two"]]);
    const abort = () => stop.abort(shutdown());
    const one = await drain(all.agent.stream("first", { ...room, signal: stop.signal, onTaken: abort }));
    expect(one.events).toEqual([]);
    expect((await all.agent.run("second", room))?.text).toBe("two");
    expect(await transcript(all.sessions)).toEqual([
      ...["user: first", "assistant: one"],
      ...["user: second", "assistant: two"],
    ]);
  });

  it("of some calls does not close the session to others of the same process", async () => {
    const all = await agentRoom([[forever], ["one"], ["both"]]);
    const stop = new AbortController();
    const one = all.agent.run("first", { ...room, signal: stop.signal });
    await asked(all, 1);
    const two = all.agent.run("second", { ...room, signal: stop.signal });
    await taken(all, "run", "waiting");
    stop.abort(shutdown());
    await expect(one).rejects.toMatchObject({ code: "RUN_SHUTDOWN" });
    await expect(two).rejects.toMatchObject({ code: "RUN_SHUTDOWN" });
    expect((await all.agent.run("third", room))?.text).toBe("both");
    expect(all.model.promptOf(2)).toMatch(/second[\s\S]*third/);
  });
});

describe("an agent that retires", () => {
  it("ends the turn that runs, begins none, and stores what is said for the process that comes after", async () => {
    const first = gate();
    const all = await agentRoom([[first.opened, "one"]]);
    const one = all.agent.run("first", { ...room, eventId: "e1" });
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    const three = all.agent.run("third", room);
    await taken(all, "run", "waiting", "waiting");
    all.agent.retire();
    expect(await all.agent.run("fourth", room)).toBeUndefined();
    expect(await all.agent.run("elsewhere", { sessionId: "new", create: true })).toBeUndefined();
    const again = all.agent.run("first", { ...room, eventId: "e1" });
    first.open();
    expect((await one)?.text).toBe("one");
    expect((await again)?.text).toBe("one");
    expect(await Promise.all([two, three])).toEqual([undefined, undefined]);
    expect(await drain(all.agent.resume("room"))).toEqual({ events: [], result: undefined });

    await all.sessions.close();
    const next = await agentRoom([["after the restart"], ["hello"]], { store: all.store });
    expect((await next.sessions.unfinished()).toSorted()).toEqual(["new", "room"]);
    expect(shape((await drain(next.agent.resume("room"))).events)).toContain('text "after the restart"');
    expect(next.model.promptOf(0)).toMatch(/second[\s\S]*third[\s\S]*fourth/);
    await drain(next.agent.resume("new"));
    expect(await next.sessions.unfinished()).toEqual([]);
  });
});

describe("a store that fails", () => {
  const failing = (verb: "take" | "save", times: number) => (sessions: SessionManager) => {
    let left = times;
    const real = sessions[verb].bind(sessions) as (...args: unknown[]) => Promise<never>;
    return {
      [verb]: async (...args: unknown[]) => {
        if (left-- > 0) throw storeDown;
        return real(...args);
      },
    };
  };

  it("before any turn is told as a failed call, and the next call works", async () => {
    const all = await agentRoom([["one"]], { override: failing("take", 2) });
    const { events } = await drain(all.agent.stream("first", room));
    expect(events).toMatchObject([
      { type: "call-failed", error: storeDown, reference: expect.stringMatching(/^\w{6}$/) },
    ]);
    await expect(all.agent.run("first", room)).rejects.toBe(storeDown);
    expect((await all.agent.run("second", room))?.text).toBe("one");
  });

  it("is told, and holds up nobody while its reader pulls no more", async () => {
    const { store, failNext } = faulty();
    const first = gate();
    const all = await agentRoom([[first.opened, "one"], ["two"]], { store });
    const one = (async () => {
      for await (const event of all.agent.stream("first", room)) if (event.type === "turn-end") failNext();
    })();
    await asked(all, 1);
    failNext();
    const failed = all.agent.stream("lost", room);
    expect((await failed.next()).value).toMatchObject({ type: "call-failed", error: { code: "STORE_UNAVAILABLE" } });
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    first.open();
    await one;
    expect((await two)?.text).toBe("two");
  });

  it("after it took an input, without saying so, does not lose it: its call is handed the turn all the same", async () => {
    const [first, second] = [gate(), gate()];
    const all = await agentRoom([[first.opened, "one"], ["two"]], {
      override: (sessions) => ({
        async take(sessionId, input, options) {
          const outcome = await sessions.take(sessionId, input, options);
          if (input?.content !== "second") return outcome;
          second.open();
          await one;
          throw storeDown;
        },
      }),
    });
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = drain(all.agent.stream("second", room));
    await second.opened;
    first.open();
    expect(shape((await two).events)).toEqual(["turn-start", 'text "two"', "turn-end stop"]);
  });

  it("at the save of the answer fails the turn, and no half answer is kept", async () => {
    const all = await agentRoom([["one"], ["two"]], { override: failing("save", 2) });
    const { events } = await drain(all.agent.stream("first", room));
    expect(shape(events)).toEqual(["turn-start", 'text "one"', "turn-failed STORE_UNAVAILABLE"]);
    expect(await transcript(all.sessions)).toEqual(["user: first"]);
    expect((await all.agent.run("second", room))?.text).toBe("two");
  });

  it("at the save of the answer, and not when it is saved again, has lost nothing: the answer counts", async () => {
    const { store, failNext } = faulty();
    const text = gate();
    const all = await agentRoom([[text.opened, "the whole answer"]], { store });
    const one = drain(all.agent.stream("first", room));
    await asked(all, 1);
    failNext();
    text.open();
    const { events, result } = await one;
    expect(shape(events)).toEqual(["turn-start", 'text "the whole answer"', "turn-end stop"]);
    expect(result).toMatchObject({ text: "the whole answer", events: [{}, {}] });
    expect(await transcript(all.sessions)).toEqual(["user: first", "assistant: the whole answer"]);
  });

  /** Fails at the first call after `at` says so. */
  function faulty(): { store: FaultyStore; failNext: (afterwards?: boolean) => void } {
    const store = new FaultyStore(openMemoryStore());
    const failNext = (afterwards = false) => {
      store.failAt = store.calls + 1;
      store.failAfterwards = afterwards;
    };
    return { store, failNext };
  }

  it("at the end of a run does not hold the session", async () => {
    const { store, failNext } = faulty();
    const all = await agentRoom([["one"], ["two"]], { store });
    for await (const event of all.agent.stream("first", room)) if (event.type === "turn-end") failNext();
    expect((await all.agent.run("second", room))?.text).toBe("two");
    expect(await transcript(all.sessions)).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
  });

  it.each([
    ["failed to give it back", false],
    ["gave it back and could not say so", true],
  ])("at the end of a run does not forget who waits: the first looks again (%s)", async (_what, afterwards) => {
    const { store, failNext } = faulty();
    const first = gate();
    const all = await agentRoom([[first.opened, "one"], ["both"]], { store });
    const one = (async () => {
      for await (const event of all.agent.stream("first", room)) if (event.type === "turn-end") failNext(afterwards);
    })();
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    const three = all.agent.run("third", room);
    await taken(all, "run", "waiting", "waiting");
    first.open();
    await one;
    expect((await two)?.text).toBe("both");
    expect(await three).toEqual(await two);
    expect(await transcript(all.sessions)).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "user: third",
      "assistant: both",
    ]);
  });

  it("and goes on failing is told to everybody who waits", async () => {
    const first = gate();
    const store = openMemoryStore();
    let down = false;
    const all = await agentRoom([[first.opened, "one"]], {
      store,
      override: (sessions) => ({
        take: async (...args) => (down ? Promise.reject(storeDown) : sessions.take(...args)),
        finish: async () => {
          down = true;
          throw storeDown;
        },
      }),
    });
    const one = all.agent.run("first", room);
    await asked(all, 1);
    const two = drain(all.agent.stream("second", room));
    await taken(all, "run", "waiting");
    const three = drain(all.agent.stream("third", room));
    await taken(all, "run", "waiting", "waiting");
    first.open();
    expect((await one)?.text).toBe("one");
    expect(shape((await two).events)).toEqual(["call-failed STORE_UNAVAILABLE"]);
    expect(shape((await three).events)).toEqual(["call-failed STORE_UNAVAILABLE"]);
  });
});

describe("a run that somebody interrupts", () => {
  it("ends silently, and the first of those that wait takes up what waits", async () => {
    const all = await agentRoom([[forever], ["both"]]);
    const stop = new AbortController();
    const one = drain(all.agent.stream("first", { ...room, signal: stop.signal }));
    await asked(all, 1);
    const two = all.agent.run("second", room);
    await taken(all, "run", "waiting");
    await all.sessions.interrupt("room");
    stop.abort(new ThreadkeeperError("RUN_LOST", "interrupted"));
    expect(shape((await one).events)).toEqual(["turn-start"]);
    expect((await two)?.text).toBe("both");
  });
});
