import { beforeEach, describe, expect, it } from "vitest";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Run, SessionManager, Taken } from "../../src/session/session-manager.ts";
import { controlKey, eventKey, summaryKey } from "../../src/session/session-record.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { FaultyStore } from "../support/faulty-store.ts";

let made = 0;
const input = (id: string) => ({ id, content: `words of ${id}` });
const said = (turn: string): SessionEvent => ({
  id: `said-${made++}`,
  at: "now",
  turn,
  message: { role: "assistant", content: "answer" },
});
const runOf = (taken: Taken): Run => {
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  return taken.run;
};
const texts = (session: Session | undefined) => session?.events.map(({ message }) => message.content);

async function turn(sessions: SessionManager, id: string): Promise<void> {
  const run = runOf(await sessions.take("s", input(id), { create: true }));
  const events = [...run.session.events, said(run.turn)];
  await sessions.save({ ...run.session, events }, { run, ended: {} });
  expect(await sessions.finish(run)).toBeUndefined();
}

describe("What a process remembers of a session", () => {
  const map = new Map<string, string>();
  let store: FaultyStore;
  let sessions: SessionManager;
  /** Another process, on the same store. */
  let other: SessionManager;
  const sinceNow = () => {
    store.commits.length = 0;
    store.reads.length = 0;
  };

  beforeEach(async () => {
    map.clear();
    store = new FaultyStore(openMemoryStore(map));
    sessions = await openSessions({ store });
    other = await openSessions({ store: openMemoryStore(map) });
    await turn(sessions, "1");
    sinceNow();
  });

  it("makes the next turn three commits, and reads nothing", async () => {
    await turn(sessions, "2");
    expect(store.commits).toHaveLength(3);
    expect(store.reads).toEqual([]);
    expect(texts(await other.get("s"))).toEqual(["words of 1", "answer", "words of 2", "answer"]);
  });

  it("is held against its control record alone where nothing changed", async () => {
    await sessions.get("s");
    expect(store.reads).toEqual([[controlKey("s")]]);
  });

  it("is looked at again where another process went on: only the new events are read", async () => {
    await turn(other, "2");
    const run = runOf(await sessions.take("s", input("3")));
    expect(texts(run.session)).toEqual(["words of 1", "answer", "words of 2", "answer", "words of 3"]);
    expect(store.commits).toHaveLength(1);
    expect(store.reads).toEqual([
      [controlKey("s"), summaryKey("s"), "s"],
      [controlKey("s"), eventKey("s", 2), eventKey("s", 3)],
    ]);
  });

  it("gives no answer that is out of date", async () => {
    const mine = runOf(await sessions.take("s", input("2")));
    await other.interrupt("s");
    const theirs = runOf(await other.take("s", input("3")));
    expect(await sessions.take("s", input("3"))).toEqual({ outcome: "known" });
    expect(texts(await sessions.get("s"))?.at(-1)).toBe("words of 3");
    await expect(sessions.save(mine.session, { run: mine })).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await sessions.finish(mine)).toBeUndefined();
    await other.finish(theirs);
    expect(await sessions.interrupt("s")).toEqual([]);
    expect(await sessions.take("s")).toEqual({ outcome: "idle" });
    const late = (await sessions.get("s")) as Session;
    await turn(other, "4");
    await expect(sessions.save(late)).rejects.toMatchObject({ code: "SESSION_STALE" });
    const current = (await sessions.get("s")) as Session;
    expect((await sessions.save({ ...current, state: { n: 1 } })).state).toEqual({ n: 1 });
    await other.reset("s");
    expect((await sessions.create({ sessionId: "s" })).events).toEqual([]);
    await other.delete("s");
    expect(await sessions.get("s")).toBeUndefined();
    await expect(sessions.take("s", input("5"))).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(runOf(await sessions.take("s", input("1"), { create: true })).session.events).toHaveLength(1);
  });

  it("does not keep an input out of a queue that has room again", async () => {
    const small = await openSessions({ store, maxWaiting: 1 });
    const run = runOf(await other.take("s", input("2")));
    expect(await small.take("s", input("3"))).toEqual({ outcome: "waiting" });
    expect(await small.take("s", input("4"))).toMatchObject({ outcome: "full" });
    const next = (await other.finish(run)) as Run;
    expect(await small.take("s", input("4"))).toEqual({ outcome: "waiting" });
    expect((await other.finish(next))?.inputs).toEqual([{ id: "4" }]);
  });

  it("is not trusted after a commit of which it is not known whether it was made", async () => {
    for (const failAfterwards of [false, true]) {
      Object.assign(store, { failAt: store.calls + 1, failAfterwards });
      const current = (await other.get("s")) as Session;
      const saving = sessions.save({ ...current, state: { failAfterwards } });
      await expect(saving).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect((await sessions.get("s"))?.state).toEqual(failAfterwards ? { failAfterwards } : {});
      await sessions.save({ ...((await sessions.get("s")) as Session), state: {} });
    }
  });

  it("does not change with what is made of a session", async () => {
    const read = (await sessions.get("s")) as Session;
    const saved = await sessions.save({ ...read, state: { list: [1] } });
    (saved.state["list"] as number[]).push(2);
    await turn(sessions, "2");
    expect((await other.get("s"))?.state).toEqual({ list: [1] });
  });

  it("goes with what is forgotten", async () => {
    await sessions.reset("s");
    expect((await sessions.get("s"))?.events).toEqual([]);
    await turn(sessions, "2");
    expect(texts(await sessions.get("s"))).toEqual(["words of 2", "answer"]);
    await sessions.delete("s");
    expect(await sessions.get("s")).toBeUndefined();
  });

  it("may be nothing: then a turn reads what it needs", async () => {
    const forgetful = await openSessions({ store, cacheBytes: 0 });
    sinceNow();
    await turn(forgetful, "2");
    expect(store.commits).toHaveLength(3);
    expect(store.reads.length).toBeGreaterThanOrEqual(4);
    expect(texts(await forgetful.get("s"))).toHaveLength(4);
  });
});

describe("A store that fails", () => {
  it("says in which session, and where it is", async () => {
    const store = new FaultyStore(openMemoryStore());
    const sessions = await openSessions({ store });
    store.failAt = store.calls + 1;
    await expect(sessions.take("s", input("1"), { create: true })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: `the store went away (session s, ${store.description})`,
      fields: { sessionId: "s", store: store.description },
    });
  });
});

describe("A run's save that was made but could not say so", () => {
  const answers = (run: Run, count: number) => Array.from({ length: count }, () => said(run.turn));

  it("is made once, when it is repeated, also with more", async () => {
    const store = new FaultyStore(openMemoryStore());
    const sessions = await openSessions({ store });
    const run = runOf(await sessions.take("s", input("1"), { create: true }));
    const [one, two, three] = answers(run, 3) as [SessionEvent, SessionEvent, SessionEvent];
    Object.assign(store, { failAt: store.calls + 1, failAfterwards: true });
    const grown = { ...run.session, events: [...run.session.events, one, two] };
    await expect(sessions.save(grown, { run })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const saved = await sessions.save(
      { ...grown, events: [...grown.events, three], state: { n: 1 } },
      { run, ended: {} },
    );
    expect(saved.events.map(({ id, seq }) => [id, seq])).toEqual(
      ["1", one.id, two.id, three.id].map((id, seq) => [id, seq]),
    );
    expect(await sessions.get("s")).toEqual(saved);
    expect(await (await openSessions({ store })).get("s")).toEqual(saved);
  });

  it("is stale if other events stand there, or fewer than it has seen", async () => {
    const sessions = await openSessions({ store: openMemoryStore() });
    const run = runOf(await sessions.take("s", input("1"), { create: true }));
    const [one, two] = answers(run, 2) as [SessionEvent, SessionEvent];
    const saved = await sessions.save({ ...run.session, events: [...run.session.events, one] }, { run });
    for (const events of [[...run.session.events, two], [...saved.events, { ...one, seq: 5 }], run.session.events]) {
      await expect(sessions.save({ ...run.session, events }, { run })).rejects.toMatchObject({ code: "SESSION_STALE" });
    }
    expect(await sessions.get("s")).toEqual(saved);
  });
});
