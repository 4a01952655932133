import { describe, expect, it, type TestContext, vi } from "vitest";
import type { Input, Run, SessionManager, Taken } from "../../src/session/session-manager.ts";
import { openSessions, type SessionsOptions } from "../../src/session/store-session-manager.ts";
import { CutStore } from "../support/cut-store.ts";
import type { StorePlace } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const takeOverMs = 2_000;
const input = (id: string): Input => ({ id, content: `words of ${id}`, replyTo: `place of ${id}` });
const runOf = (taken: Taken | undefined): Run => {
  if (taken?.outcome !== "run") throw new Error(`no run, but ${taken?.outcome}`);
  return taken.run;
};
const soon = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000, interval: 10 });

interface Process {
  readonly store: CutStore;
  readonly sessions: SessionManager;
  /** What its listener was told. */
  readonly told: (readonly string[])[];
}

interface Scene {
  readonly one: Process;
  readonly other: Process;
  arrives(options?: Partial<SessionsOptions>): Promise<Process>;
}

/** Two processes on a store of their own, until the test ends. */
async function openScene(makePlace: () => Promise<StorePlace>, { onTestFinished }: TestContext): Promise<Scene> {
  const place = await makePlace();
  const processes: Process[] = [];
  onTestFinished(async () => {
    for (const { store, sessions } of processes) {
      store.isCut = false;
      await sessions.close();
      await store.close();
    }
    await place.remove();
  });
  async function arrives(options: Partial<SessionsOptions> = {}): Promise<Process> {
    const store = new CutStore(await place.open());
    const sessions = await openSessions({ store, takeOverMs, ...options });
    const told: (readonly string[])[] = [];
    sessions.onUnfinished((sessionIds) => told.push(sessionIds));
    const arrived = { store, sessions, told };
    processes.push(arrived);
    return arrived;
  }
  return { one: await arrives(), other: await arrives(), arrives };
}

// They mostly wait, so they do it all at once, and each can have the time that a slow machine needs.
describe.each(everyPlace)("Two processes on one $kind store", ({ makePlace }) => {
  it.concurrent("leave each other's runs alone while both are there", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const run = runOf(await one.sessions.take("s", input("1"), { create: true }));
    expect(await other.sessions.take("s", input("2"))).toEqual({ outcome: "waiting" });
    await new Promise((resolve) => setTimeout(resolve, 2 * takeOverMs));
    expect(run.signal?.aborted).toBe(false);
    expect([one.told, other.told]).toEqual([[], []]);
    expect(await other.sessions.take("s")).toEqual({ outcome: "idle" });
    expect(runOf({ outcome: "run", run: (await one.sessions.finish(run)) as Run }).inputs).toMatchObject([{ id: "2" }]);
  });

  it.concurrent("what one that dies was at is taken up by the other: no new message is needed, and its turn stays the same", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const dead = runOf(await one.sessions.take("s", input("1"), { create: true }));
    await other.sessions.take("s", input("2"));
    one.store.isCut = true;
    await soon(() => expect(other.told).toEqual([["s"]]));
    const run = runOf(await other.sessions.take("s"));
    expect(run).toMatchObject({ turn: dead.turn, resumed: true, inputs: [{ id: "1", replyTo: "place of 1" }] });
    const next = (await other.sessions.finish(run)) as Run;
    expect(next.inputs).toMatchObject([{ id: "2" }]);
    expect(await other.sessions.finish(next)).toBeUndefined();
    expect(other.told).toEqual([["s"]]);
  });

  it.concurrent("what waits when one says goodbye is taken up by the other", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    await one.sessions.take("s", input("1"), { create: true, start: false });
    const run = runOf(await one.sessions.take("t", input("2"), { create: true }));
    await other.sessions.take("t", input("3"));
    await one.sessions.finish(run, { start: false });
    await one.sessions.close();
    await soon(() => expect(new Set(other.told.flat())).toEqual(new Set(["s", "t"])));
    expect(runOf(await other.sessions.take("s")).inputs).toMatchObject([{ id: "1" }]);
    expect(runOf(await other.sessions.take("t")).inputs).toMatchObject([{ id: "3" }]);
  });

  it.concurrent("of three, two find what the third left, and one of them gets it", async (context) => {
    const { one, other, arrives } = await openScene(makePlace, context);
    const third = await arrives();
    await third.sessions.take("s", input("1"), { create: true });
    third.store.isCut = true;
    await soon(() => expect([one.told[0], other.told[0]]).toEqual([["s"], ["s"]]));
    const taken = await Promise.all([one.sessions.take("s"), other.sessions.take("s")]);
    expect(taken.map(({ outcome }) => outcome).sort()).toEqual(["idle", "run"]);
  });

  it.concurrent("one that cannot reach the store gives up its runs before the other takes them", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const run = runOf(await one.sessions.take("s", input("1"), { create: true }));
    const order: string[] = [];
    run.signal?.addEventListener("abort", () => order.push("given up"));
    other.sessions.onUnfinished(() => order.push("taken"));
    one.store.isCut = true;
    await soon(() => expect(order).toEqual(["given up", "taken"]));
    expect(run.signal?.reason).toMatchObject({ code: "RUN_LOST", fields: { sessionId: "s" } });
    expect(one.sessions.isPresent()).toBe(false);
  });

  it.concurrent("one that comes back after it was taken over touches nothing of that, and works on under another name", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const lost = runOf(await one.sessions.take("s", input("1"), { create: true }));
    one.store.isCut = true;
    await soon(() => expect(other.told).toEqual([["s"]]));
    const run = runOf(await other.sessions.take("s"));
    one.store.isCut = false;
    await soon(() => expect(one.sessions.isPresent()).toBe(true));
    await expect(one.sessions.save(lost.session, { run: lost })).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await one.sessions.finish(lost)).toBeUndefined();
    expect(await one.sessions.take("s", input("2"))).toEqual({ outcome: "waiting" });
    const fresh = runOf(await one.sessions.take("t", input("3"), { create: true }));
    expect(await other.sessions.take("t")).toEqual({ outcome: "idle" });
    expect(((await other.sessions.finish(run)) as Run).inputs).toMatchObject([{ id: "2" }]);
    await one.sessions.save(fresh.session, { run: fresh });
    expect(await other.store.keys("owner/")).toHaveLength(2);
  });

  it.concurrent("one that comes back and was not taken over goes on with what it gave up, as somebody else would", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    await other.sessions.close();
    const lost = runOf(await one.sessions.take("s", input("1"), { create: true }));
    one.store.isCut = true;
    await soon(() => expect(lost.signal?.aborted).toBe(true));
    one.store.isCut = false;
    await soon(() => expect(one.told).toEqual([["s"]]));
    // It may neither write nor end it: the turn is not answered yet.
    await expect(one.sessions.save(lost.session, { run: lost })).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await one.sessions.finish(lost)).toBeUndefined();
    const run = runOf(await one.sessions.take("s"));
    expect(run).toMatchObject({ turn: lost.turn, resumed: true, inputs: [{ id: "1" }] });
    expect(run.id).not.toBe(lost.id);
    await one.sessions.save(run.session, { run });
  });

  it.concurrent("one that was away begins a run only when the store has heard of it again", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    await other.sessions.close();
    one.store.isCut = true;
    await soon(() => expect(one.sessions.isPresent()).toBe(false));
    await expect(one.sessions.take("s", input("1"), { create: true })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    one.store.isCut = false;
    const run = runOf(await one.sessions.take("s", input("1"), { create: true }));
    expect(one.sessions.isPresent()).toBe(true);
    expect(run.signal?.aborted).toBe(false);
  });

  it.concurrent("a run that the other takes away is over in the one that is at it, without any save", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const [stopped, reset] = [
      runOf(await one.sessions.take("stopped", input("1"), { create: true })),
      runOf(await one.sessions.take("reset", input("2"), { create: true })),
    ];
    const kept = runOf(await one.sessions.take("kept", input("3"), { create: true }));
    await other.sessions.interrupt("stopped");
    await other.sessions.reset("reset");
    await soon(() => expect([stopped.signal?.aborted, reset.signal?.aborted]).toEqual([true, true]));
    expect(kept.signal?.aborted).toBe(false);
  });

  it.concurrent("a run that was taken away is over at once when its own process begins another", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    const first = runOf(await one.sessions.take("s", input("1"), { create: true }));
    await other.sessions.reset("s");
    const second = runOf(await one.sessions.take("s", input("2")));
    expect([first.signal?.aborted, second.signal?.aborted]).toEqual([true, false]);
  });

  it.concurrent("one reads when the others were last there, before it came", async (context) => {
    const { one, arrives } = await openScene(makePlace, context);
    const before = Date.now();
    await soon(async () => expect((await one.store.get(["alive/last"]))[0]).toBeDefined());
    const next = await arrives({ isListening: () => false });
    const last = next.sessions.lastBeat()?.getTime() ?? 0;
    expect(last).toBeGreaterThan(before - 60_000);
    expect(last).toBeLessThanOrEqual(Date.now());
  });

  it.concurrent("a look that fails is made again", async (context) => {
    const { one, other } = await openScene(makePlace, context);
    await one.sessions.take("s", input("1"), { create: true });
    vi.spyOn(other.store, "keys").mockRejectedValueOnce(new Error("no")).mockRejectedValueOnce(new Error("no"));
    one.store.isCut = true;
    await soon(() => expect(other.told).toEqual([["s"]]));
  });
});
