import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitingCalls } from "../../src/agent/waiting-calls.ts";
import type { Session } from "../../src/session/session.ts";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { agentRoom, drain, eventually, transcript } from "../support/agent-room.ts";
import { FaultyStore } from "../support/faulty-store.ts";

function run(...ids: string[]): Run {
  const session = { sessionId: "room", events: [], state: {}, version: "", earlier: 0 };
  return { id: `run-${ids.join("-")}`, turn: "t", inputs: ids.map((id) => ({ id })), session };
}

function somebodyLeaves(plans: readonly { leave: number | null }[]): boolean {
  return plans.some(({ leave }) => leave !== null);
}

/** Lets so many rounds of the event loop pass. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("calls that wait", () => {
  it("a run may be handed over before the store has said that the input waits", async () => {
    const calls = new WaitingCalls();
    const first = calls.enter("room", "a");
    calls.drives(first, run("a"));
    const second = calls.enter("room", "b");
    expect(calls.handOver(run("a"), run("b"))).toBeUndefined();
    calls.waits(second);
    expect(await second.word).toEqual({ run: run("b") });
    expect(second.told).toEqual({ run: run("b") });
  });

  it("a call that is on its way may still come back with the run that the others wait for", async () => {
    const calls = new WaitingCalls();
    const first = calls.enter("room", "a");
    const second = calls.enter("room", "b");
    calls.waits(second);
    expect(second.told).toBeUndefined();
    const driven = run("a");
    calls.drives(first, driven);
    calls.settle(driven, undefined);
    expect(calls.handOver(driven, undefined)).toBeUndefined();
    expect(await second.word).toEqual({ again: expect.objectContaining({ sessionId: "room", inputId: "b" }) });
  });

  it("a run goes to the first of those that it covers, and only the first word counts", async () => {
    const calls = new WaitingCalls();
    calls.drives(calls.enter("room", "a"), run("a"));
    const [other, first, second] = [calls.enter("room", "x"), calls.enter("room", "b"), calls.enter("room", "c")];
    for (const call of [other, first, second]) calls.waits(call);
    calls.handOver(run("a"), run("b", "c"));
    expect([other.told, first.told, second.told]).toEqual([undefined, { run: run("b", "c") }, undefined]);
    first.tell({ outcome: undefined });
    expect(await first.word).toEqual({ run: run("b", "c") });
  });

  it("a run that nobody waits for comes back", () => {
    const calls = new WaitingCalls();
    calls.drives(calls.enter("room", undefined), run("a"));
    expect(calls.handOver(run("a"), run("b"))).toEqual(run("b"));
  });

  it("late news of a run's end does not touch who waits for the one that has begun since", async () => {
    const calls = new WaitingCalls();
    const [before, since] = [run("a"), run("b")] as const;
    calls.drives(calls.enter("room", "a"), before);
    calls.drives(calls.enter("room", "b"), since);
    const third = calls.enter("room", "c");
    calls.waits(third);
    calls.handOver(before, undefined);
    expect(third.told).toBeUndefined();
    calls.handOver(since, run("c"));
    expect(await third.word).toEqual({ run: run("c") });
  });

  it("another session's calls hear nothing", () => {
    const calls = new WaitingCalls();
    const here = calls.enter("room", "a");
    const there = calls.enter("other", "a");
    calls.leave(here);
    expect(there.told).toBeUndefined();
    expect(calls.isAnsweredHere(there)).toBe(false);
  });
});

describe("many calls at once, whatever the store and the model take", () => {
  it("every input is stored once, in the order of taking, answered by one turn, and every call comes to an end", async () => {
    const delay = fc.nat({ max: 6 });
    const call = fc.record({ start: delay, leave: fc.option(fc.nat({ max: 30 }), { freq: 4 }) });
    const property = fc.asyncProperty(
      fc.array(call, { minLength: 2, maxLength: 7 }),
      fc.array(delay, { minLength: 40, maxLength: 40 }),
      fc.option(fc.record({ call: fc.nat({ max: 80 }), failAfterwards: fc.boolean() })),
      async (plans, delays, fault) => {
        let next = 0;
        const late = async () => rounds(delays[next++ % delays.length] ?? 0);
        const slowly =
          <Args extends unknown[], Result>(verb: (...args: Args) => Promise<Result>) =>
          async (...args: Args): Promise<Result> => {
            await late();
            const result = await verb(...args);
            await late();
            return result;
          };
        const steps = [...plans, ...plans].map((_, index) => [rounds(delays[index] ?? 0), `answer ${index}`]);
        const store = new FaultyStore(openMemoryStore());
        const { agent, sessions } = await agentRoom(steps, {
          store,
          override: (real: SessionManager) => ({
            take: slowly(real.take.bind(real)),
            save: slowly(real.save.bind(real)),
            finish: slowly(real.finish.bind(real)),
          }),
        });
        if (fault) Object.assign(store, fault, { failAt: store.calls + fault.call });
        const settled = await Promise.allSettled(
          plans.map(async ({ start, leave }, index) => {
            await rounds(start);
            const stop = new AbortController();
            if (leave !== null) void rounds(leave).then(() => stop.abort());
            const id = `input ${index}`;
            const result = await agent.run(id, { sessionId: "room", eventId: id, signal: stop.signal });
            expect(result?.events.map((event) => event.id)).toContain(id);
          }),
        );
        // Who leaves while driving a turn stops it for all that it covers.
        const excused = [...(fault ? ["STORE_UNAVAILABLE"] : []), ...(somebodyLeaves(plans) ? ["RUN_STOPPED"] : [])];
        for (const [index, call] of settled.entries()) {
          if (plans[index]?.leave === null && call.status === "rejected") expect(excused).toContain(call.reason.code);
        }
        store.failAt = Number.POSITIVE_INFINITY;
        // Runs that nobody hears go on for a while; only when nobody runs, an outside save is taken.
        await eventually(async () => sessions.save((await sessions.get("room")) as Session));
        await drain(agent.resume("room"));
        expect((await sessions.take("room")).outcome).toBe("idle");
        const inputs = (await transcript(sessions)).filter((line) => line.startsWith("user"));
        expect(new Set(inputs).size).toBe(inputs.length);
        for (const [index, { leave }] of plans.entries()) {
          if (leave === null && !fault) expect(inputs).toContain(`user: input ${index}`);
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
