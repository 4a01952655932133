import { readFile } from "node:fs/promises";
import { KeyvSqlite } from "@keyv/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasCode, StaleSessionError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/session/plain-json.ts";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Input, Run, SessionManager, Taken } from "../../src/session/session-manager.ts";
import { controlKey, eventKey, ownerKey } from "../../src/session/session-record.ts";
import { openSqliteStore } from "../../src/session/store/sqlite.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions, type SessionsOptions } from "../../src/session/store-session-manager.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { contents, put, type StorePlace, write } from "../support/store-contract.ts";
import { everyPlace, sqlitePlace } from "../support/store-places.ts";

const input = (id: string, content = `words of ${id}`): Input => ({ id, content });
let made = 0;
const said = (text: string, turn = "t"): SessionEvent => ({
  id: `event-${made++}`,
  at: "2026-01-01T00:00:00.000Z",
  turn,
  message: { role: "assistant", content: text },
});
const asked = (text: string, turn = "t"): SessionEvent => ({
  ...said(text, turn),
  message: { role: "user", content: text },
});
const withEvents = (session: Session, ...events: SessionEvent[]): Session => ({
  ...session,
  events: [...session.events, ...events],
});
const texts = (session: Session | undefined): unknown[] | undefined =>
  session?.events.map((event) => event.message.content);
const runOf = (taken: Taken): Run => {
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  return taken.run;
};

describe.each(everyPlace)("Sessions in $kind", ({ makePlace }) => {
  let place: StorePlace;
  let store: Store;
  let sessions: SessionManager;
  const stores: Store[] = [];
  const openStore = async (): Promise<Store> => {
    const opened = await place.open();
    stores.push(opened);
    return opened;
  };
  /** Another process, as far as the store can tell. */
  const another = async (options: Partial<SessionsOptions> = {}): Promise<SessionManager> =>
    openSessions({ store: await openStore(), ...options });

  beforeEach(async () => {
    place = await makePlace();
    store = await openStore();
    sessions = await openSessions({ store });
  });
  afterEach(async () => {
    for (const each of stores.splice(0)) await each.close();
    await place.remove();
  });

  describe("are made and found", () => {
    it("by any id that is allowed, or by one that is made up", async () => {
      const session = await sessions.create({ sessionId: "discord:1", state: { topic: "x" } });
      expect(session).toEqual({
        sessionId: "discord:1",
        events: [],
        state: { topic: "x" },
        version: expect.any(String),
        earlier: 0,
      });
      expect(await sessions.get("discord:1")).toEqual(session);
      const { sessionId } = await sessions.create();
      expect(await sessions.get(sessionId)).toMatchObject({ sessionId, events: [], state: {} });
    });

    it("as they are if they are there: creating again changes nothing", async () => {
      const saved = await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("hello")));
      expect(await sessions.create({ sessionId: "s", state: { other: true } })).toEqual(saved);
      expect(texts(await sessions.get("s"))).toEqual(["hello"]);
    });

    it("once, however many make them at once", async () => {
      const managers = [sessions, await another(), await another()];
      const all = await Promise.all(managers.map((each, index) => each.create({ sessionId: "s", state: { index } })));
      expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    });

    it("as undefined if they don't exist, and a run on one that doesn't is a typed error", async () => {
      expect(await sessions.get("none")).toBeUndefined();
      await expect(sessions.take("none", input("1"))).rejects.toMatchObject({
        code: "SESSION_NOT_FOUND",
        fields: { sessionId: "none" },
      });
      await expect(sessions.take("none")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      expect(await contents(store)).not.toHaveProperty(controlKey("none"));
    });

    it("never by an id that is not allowed", async () => {
      const calls: (() => Promise<unknown>)[] = [
        () => sessions.create({ sessionId: "a/b" }),
        () => sessions.get("a/b"),
        () => sessions.take("a/b", input("1"), { create: true }),
        () => sessions.interrupt("a/b"),
        () => sessions.reset("a/b"),
        () => sessions.delete("a/b"),
        () => sessions.save({ sessionId: "a/b", events: [], state: {}, version: "", earlier: 0 }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "SESSION_ID_INVALID" });
    });
  });

  describe("are saved", () => {
    it("by their new events and state, and come back the same in another process", async () => {
      const created = await sessions.create({ sessionId: "s" });
      const events = [asked("first"), said("second")];
      const saved = await sessions.save({ ...withEvents(created, ...events), state: { step: 2 } });
      expect(saved).toEqual({
        sessionId: "s",
        events: events.map((event, seq) => ({ ...event, seq })),
        state: { step: 2 },
        version: expect.any(String),
        earlier: 0,
      });
      expect(saved.version).not.toBe(created.version);
      expect(await (await another()).get("s")).toEqual(saved);
    });

    it("as plain data: a copy is as good as the original", async () => {
      const first = await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("one")));
      const second = await sessions.save(withEvents(structuredClone(first), asked("two")));
      const third = await sessions.save(withEvents(JSON.parse(JSON.stringify(second)), asked("three")));
      expect(texts(third)).toEqual(["one", "two", "three"]);
      expect(await sessions.get("s")).toEqual(third);
    });

    it("with frozen events that keep no tie to what was given", async () => {
      const event = asked("as it was");
      const saved = await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), event));
      Object.assign(event.message, { content: "changed" });
      expect(texts(saved)).toEqual(["as it was"]);
      for (const session of [saved, await sessions.get("s")]) {
        expect(() => Object.assign(session?.events[0]?.message ?? {}, { content: "changed" })).toThrow(TypeError);
      }
    });

    it("even if they were never created, but not if they are gone", async () => {
      const saved = await sessions.save({
        sessionId: "s",
        events: [asked("hello")],
        state: {},
        version: "",
        earlier: 0,
      });
      expect(await sessions.get("s")).toEqual(saved);
      await expect(sessions.save({ ...saved, version: "" })).rejects.toBeInstanceOf(StaleSessionError);
      await sessions.delete("s");
      await expect(sessions.save(saved)).rejects.toMatchObject({ code: "SESSION_STALE", fields: { sessionId: "s" } });
      expect(await sessions.get("s")).toBeUndefined();
    });

    it("behind all that is there, also by who gives only some of it, or nothing, along with what is new", async () => {
      const one = await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("one"), said("two")));
      const three = await sessions.save({ ...one, events: [asked("three", "u")] });
      const shortened = { ...three, events: [...one.events.slice(0, 1), said("four", "u")] };
      await sessions.save(shortened);
      for (const manager of [sessions, await another()]) {
        expect(texts(await manager.get("s"))).toEqual(["one", "two", "three", "four"]);
      }
    });

    it("by one of two writers: the stale one is refused, and nothing of it is stored", async () => {
      const read = await sessions.create({ sessionId: "s" });
      const other = await another();
      await other.save(withEvents(read, asked("theirs")));
      await expect(sessions.save({ ...withEvents(read, asked("mine")), state: { mine: true } })).rejects.toBeInstanceOf(
        StaleSessionError,
      );
      expect(await sessions.get("s")).toMatchObject({ state: {}, events: [{ message: { content: "theirs" } }] });
    });

    it("by many writers, each of whom reads again when it was stale: 60 of 60 events are kept", async () => {
      await sessions.create({ sessionId: "s" });
      const managers = [sessions, await another()];
      const writer = async (manager: SessionManager, name: string) => {
        for (let index = 0; index < 15; ) {
          const session = (await manager.get("s")) as Session;
          try {
            await manager.save(withEvents(session, said(`${name}.${index}`)));
            index++;
          } catch (error) {
            if (!hasCode(error, "SESSION_STALE")) throw error;
          }
        }
      };
      await Promise.all(["a", "b", "c", "d"].map((name, index) => writer(managers[index % 2] as SessionManager, name)));
      const all = texts(await sessions.get("s")) as string[];
      expect(all).toHaveLength(60);
      for (const name of ["a", "b", "c", "d"]) {
        const own = all.filter((text) => text.startsWith(name));
        expect(own).toEqual(Array.from({ length: 15 }, (_, index) => `${name}.${index}`));
      }
    });

    it("with events of the same millisecond in the order in which they were added", async () => {
      const at = "2026-01-01T00:00:00.000Z";
      const events = Array.from({ length: 100 }, (_, index) => ({ ...asked(`${index}`), at }));
      let session = await sessions.create({ sessionId: "s" });
      for (let index = 0; index < 100; index += 10)
        session = await sessions.save(withEvents(session, ...events.slice(index, index + 10)));
      expect(texts(await sessions.get("s"))).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`));
    });

    it("with whatever text and state there is: odd Unicode, __proto__, nothing, 2 MB", async () => {
      const state = JSON.parse('{"__proto__":{"polluted":true},"":"","constructor":{"prototype":1}}') as JsonObject;
      const odd = ["", "👩‍👩‍👧\u0000\u2028 \ud800 מזל", "ab".repeat(1_000_000)];
      await sessions.save({
        ...withEvents(await sessions.create({ sessionId: "s" }), ...odd.map((text) => asked(text))),
        state,
      });
      const read = await (await another()).get("s", { maxBytes: 10_000_000 });
      expect(texts(read)).toEqual(odd);
      expect(JSON.stringify(read?.state)).toBe(JSON.stringify(state));
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });

    it("only if all of it is plain JSON; the error names the path, and nothing is stored", async () => {
      const session = await sessions.create({ sessionId: "s" });
      const file = { type: "file" as const, data: new Uint8Array(3), mediaType: "image/png" };
      const event: SessionEvent = { ...asked(""), id: "e1", message: { role: "user", content: [file] } };
      await expect(sessions.save(withEvents(session, asked("fine"), event))).rejects.toMatchObject({
        code: "NOT_PLAIN_JSON",
        fields: { path: "event e1.message.content[0].data" },
      });
      await expect(sessions.save({ ...session, state: { when: new Date() as never } })).rejects.toMatchObject({
        fields: { path: "state.when" },
      });
      await expect(sessions.create({ sessionId: "t", state: { x: Number.NaN } })).rejects.toMatchObject({
        fields: { path: "state.x" },
      });
      await expect(sessions.take("s", { ...input("1"), replyTo: { to: 1n as never } })).rejects.toMatchObject({
        fields: { path: "input.replyTo.to" },
      });
      expect(await sessions.get("s")).toEqual(session);
    });

    it("only with events that are some, each of them new", async () => {
      const session = await sessions.save(
        withEvents(await sessions.create({ sessionId: "s" }), { ...asked("x"), id: "same" }),
      );
      const wrong: [path: string, event: object][] = [
        [".id", { ...asked("x"), id: "" }],
        [".turn", { ...asked("x"), turn: 5 }],
        [".message.role", { ...asked("x"), message: { role: "judge", content: "" } }],
        [".message.content", { ...asked("x"), message: { role: "user" } }],
        [".author.name", { ...asked("x"), author: { id: "5" } }],
        [".context[0].text", { ...asked("x"), context: [{ id: "1", author: { id: "5", name: "Ada" } }] }],
        [".id", { ...asked("y"), id: "same" }],
      ];
      for (const [path, event] of wrong) {
        await expect(sessions.save(withEvents(session, asked("fine"), event as SessionEvent))).rejects.toMatchObject({
          code: "INPUT_INVALID",
          fields: { path: expect.stringMatching(new RegExp(`^event .*${path.replace(/[[\]]/g, ".")}$`)) },
        });
      }
      const twice = asked("twice");
      await expect(sessions.save(withEvents(session, twice, twice))).rejects.toMatchObject({ code: "INPUT_INVALID" });
      expect(await sessions.get("s")).toEqual(session);
    });
  });

  describe("are read by their newest part", () => {
    const fill = async (turns: number, size = 0): Promise<Session> => {
      const events = Array.from({ length: turns }, (_, turn) => [
        asked(`q${turn} ${"x".repeat(size)}`, `t${turn}`),
        said(`calls${turn}`, `t${turn}`),
        { ...said(""), turn: `t${turn}`, message: { role: "tool" as const, content: [] } },
        said(`a${turn}`, `t${turn}`),
      ]).flat();
      return sessions.save(withEvents(await sessions.create({ sessionId: "s" }), ...events));
    };

    it("of 3,000 events the newest, not the first, in order and without a gap", async () => {
      const { events } = await fill(750);
      const read = (await sessions.get("s", { maxBytes: 50_000 })) as Session;
      expect(read.events.length).toBeGreaterThan(100);
      expect(read.events).toEqual(events.slice(-read.events.length));
      expect(read.earlier).toBe(3000 - read.events.length);
      expect((await sessions.get("s", { maxBytes: 100_000_000 }))?.events).toEqual(events);
    });

    it("cut at a user's turn and within the bound, whatever the bound is", async () => {
      const { events } = await fill(60, 50);
      const bytes = await Promise.all(
        events.map(async (_, seq) => Buffer.byteLength((await store.get([eventKey("s", seq)]))[0]?.value ?? "")),
      );
      for (let maxBytes = 0; maxBytes < 20_000; maxBytes += 777) {
        const read = (await sessions.get("s", { maxBytes })) as Session;
        expect(read.events[0]?.message.role).toBe("user");
        const size = (turns: number) => bytes.slice(240 - 4 * turns).reduce((sum, each) => sum + each, 0);
        const turns = read.events.length / 4;
        // The newest turn comes whole, even if it is too large; any other only if it fits, and then it does come.
        if (turns > 1) expect(size(turns)).toBeLessThanOrEqual(maxBytes);
        expect(size(turns + 1)).toBeGreaterThan(maxBytes);
        expect(turns).toBeGreaterThanOrEqual(1);
      }
    });

    it("and what many people said before one answer is never parted", async () => {
      const turn = [asked("a"), asked("b"), asked("c"), said("to all of you")];
      await sessions.save(
        withEvents(await sessions.create({ sessionId: "s" }), asked("old", "o"), said("older", "o"), ...turn),
      );
      expect(texts(await sessions.get("s", { maxBytes: 1 }))).toEqual(["a", "b", "c", "to all of you"]);
    });

    it("and whole if nobody ever asked anything", async () => {
      await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), said("a"), said("b")));
      expect(texts(await sessions.get("s", { maxBytes: 1 }))).toEqual(["a", "b"]);
    });

    it("and an event that is missing or damaged is an error that names the session, never a shorter one", async () => {
      await fill(100);
      const bound = { maxBytes: 1_000_000 };
      const saved = await store.get([eventKey("s", 5)]);
      await put(store, eventKey("s", 5), "{");
      // Who read it before remembers it; who has not is told.
      expect((await sessions.get("s", bound))?.events).toHaveLength(400);
      const cold = await another();
      await expect(cold.get("s", bound)).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining(store.description),
        fields: { sessionId: "s", store: store.description },
      });
      await write(store, {
        key: eventKey("s", 5),
        was: (await store.get([eventKey("s", 5)]))[0]?.version,
        remove: [eventKey("s", 5)],
      });
      await expect(cold.get("s", bound)).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining("event 5 of session s"),
      });
      await expect(cold.take("s", input("1"), bound)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      await put(store, eventKey("s", 5), saved[0]?.value ?? "");
      expect((await cold.get("s", bound))?.events).toHaveLength(400);
    });
  });

  describe("are worked on by one run at a time", () => {
    it("which has what was said as saved events, in the commit that begins it", async () => {
      await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("before")));
      const author = { id: "5", name: "Ada" };
      const run = runOf(await sessions.take("s", { ...input("1", "hello"), author, replyTo: { message: "9" } }));
      expect(run).toMatchObject({
        id: expect.stringMatching(/^[0-9a-z]{12}$/),
        turn: expect.stringMatching(/^[0-9a-z]{12}$/),
        inputs: [{ id: "1", author, replyTo: { message: "9" } }],
      });
      expect(texts(run.session)).toEqual(["before", "hello"]);
      expect(run.session.events[1]).toEqual({
        id: "1",
        seq: 1,
        at: expect.any(String),
        turn: run.turn,
        author,
        message: { role: "user", content: "hello" },
      });
      expect(await (await another()).get("s")).toEqual(run.session);
    });

    it("and only with it a save can end a turn: without one it leaves what was abandoned to be answered", async () => {
      const dying = await another();
      const dead = runOf(await dying.take("s", input("1"), { create: true }));
      await dying.close();
      await sessions.save(withEvents((await sessions.get("s")) as Session, said("outside")), { ended: {} });
      expect(runOf(await sessions.take("s"))).toMatchObject({ turn: dead.turn, inputs: [{ id: "1" }] });
    });

    it("and a plain turn is three commits", async () => {
      const counted = new FaultyStore(store);
      const manager = await openSessions({ store: counted });
      counted.commits.length = 0;
      const run = runOf(await manager.take("s", input("1"), { create: true }));
      await manager.save(withEvents(run.session, said("answer", run.turn)), { run, ended: {} });
      expect(await manager.finish(run)).toBeUndefined();
      expect(counted.commits).toHaveLength(3);
      expect(texts(await manager.get("s"))).toEqual(["words of 1", "answer"]);
    });

    it("what comes meanwhile waits, in order, and makes the next run when it is finished", async () => {
      const first = runOf(await sessions.take("s", input("1"), { create: true }));
      expect(await sessions.take("s", input("2"))).toEqual({ outcome: "waiting" });
      expect(await (await another()).take("s", input("3"))).toEqual({ outcome: "waiting" });
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
      await sessions.save(withEvents(first.session, said("to 1", first.turn)), { run: first, ended: {} });
      const second = (await sessions.finish(first)) as Run;
      expect(second.inputs).toEqual([{ id: "2" }, { id: "3" }]);
      expect(second.turn).not.toBe(first.turn);
      expect(texts(second.session)).toEqual(["words of 1", "to 1", "words of 2", "words of 3"]);
      await sessions.save(withEvents(second.session, said("to 2 and 3", second.turn)), { run: second, ended: {} });
      expect(await sessions.finish(second)).toBeUndefined();
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
    });

    it("an input may only be stored: it waits for whoever takes the session up, also where nobody runs", async () => {
      const [ending, later] = [await another(), await another()];
      expect(await ending.take("s", input("1"), { create: true, start: false })).toEqual({ outcome: "waiting" });
      expect(await ending.take("s", undefined, { start: false })).toEqual({ outcome: "idle" });
      expect(await later.unfinished()).toEqual(["s"]);
      expect(runOf(await later.take("s")).inputs).toEqual([{ id: "1" }]);
      expect(await ending.take("s", input("1"), { start: false })).toEqual({ outcome: "known" });
    });

    it("a run may be finished without a next one: what waits, waits on", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      await sessions.take("s", input("2"));
      expect(await sessions.finish(run, { start: false })).toBeUndefined();
      expect(await sessions.unfinished()).toEqual(["s"]);
      expect(runOf(await sessions.take("s")).inputs).toEqual([{ id: "2" }]);
    });

    it("a run is somebody's until it is finished: who stood before that in the order does not take it over", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      const taken = sessions.take("s", input("2"));
      const next = sessions.finish(run);
      expect(await taken).toEqual({ outcome: "waiting" });
      expect((await next)?.inputs).toEqual([{ id: "2" }]);
    });

    it("a run may be let go of: who comes next goes on with its turn, and it may no longer write", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      sessions.release(run);
      const next = runOf(await sessions.take("s"));
      expect(next).toMatchObject({ turn: run.turn, inputs: [{ id: "1" }] });
      await expect(sessions.save(withEvents(run.session, said("late")), { run })).rejects.toMatchObject({
        code: "RUN_LOST",
      });
      expect(await sessions.finish(next)).toBeUndefined();
    });

    it("an input that comes twice counts once: while it waits, while it is answered, and after", async () => {
      const first = runOf(await sessions.take("s", input("1"), { create: true }));
      const again = async (id: string) => expect(await sessions.take("s", input(id))).toEqual({ outcome: "known" });
      await again("1");
      await sessions.take("s", input("2"));
      await again("2");
      const second = (await sessions.finish(first)) as Run;
      await again("2");
      expect(await sessions.finish(second)).toBeUndefined();
      await again("1");
      await again("2");
      expect(texts(await sessions.get("s"))).toEqual(["words of 1", "words of 2"]);
    });

    it("an old message of Discord's that is delivered again counts as known, however many came after it", async () => {
      const id = (index: number) => String(10n ** 18n + BigInt(index));
      for (let index = 0; index < 70; index++) {
        const run = runOf(await sessions.take("s", input(id(index)), { create: true }));
        await sessions.finish(run);
      }
      expect(await sessions.take("s", input(id(0)))).toEqual({ outcome: "known" });
    });

    it("of inputs at once each is covered by exactly one run, and their events are in the order of the calls", async () => {
      await sessions.create({ sessionId: "s" });
      const taken = await Promise.all(Array.from({ length: 40 }, (_, index) => sessions.take("s", input(`${index}`))));
      expect(taken.map((each) => each.outcome)).toEqual(["run", ...Array.from({ length: 39 }, () => "waiting")]);
      const next = await sessions.finish(runOf(taken[0] as Taken));
      expect(next?.inputs.map(({ id }) => id)).toEqual(Array.from({ length: 39 }, (_, index) => `${index + 1}`));
      expect(texts(next?.session)).toEqual(Array.from({ length: 40 }, (_, index) => `words of ${index}`));
    });

    it("of two processes that receive the same message, one answers", async () => {
      await sessions.create({ sessionId: "s" });
      const managers = [sessions, await another(), await another()];
      for (let index = 0; index < 10; index++) {
        const taken = await Promise.all(managers.map((each) => each.take("s", input(`${index}`))));
        expect(taken.map((each) => each.outcome).sort()).toEqual(["known", "known", "run"]);
        const winner = taken.findIndex((each) => each.outcome === "run");
        await managers[winner]?.finish(runOf(taken[winner] as Taken));
      }
      expect(texts(await sessions.get("s"))).toHaveLength(10);
    });

    it("no wake-up is lost when an input comes as the run is finished", async () => {
      const other = await another();
      let run = runOf(await sessions.take("s", input("0"), { create: true }));
      const covered = ["0"];
      for (let index = 1; index <= 30; index++) {
        const current: Run = run;
        const [mine, taken] = await Promise.all([sessions.finish(current), other.take("s", input(`${index}`))]);
        const theirs = taken.outcome === "run" ? taken.run : undefined;
        const next: Run = (mine ?? theirs) as Run;
        // Either it waited in time and the finisher has it, or it came after and its own process has it; never both.
        expect([mine, theirs].filter(Boolean)).toEqual([next]);
        covered.push(...next.inputs.map(({ id }) => id));
        if (!theirs) {
          run = next;
          continue;
        }
        await other.finish(next);
        const again = runOf(await sessions.take("s", input(`again-${index}`)));
        run = again;
      }
      expect(covered).toEqual(Array.from({ length: 31 }, (_, index) => `${index}`));
    });

    it("an input does not disturb a run, whose writes are repeated on top of it", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      const other = await another();
      let session = run.session;
      for (let index = 0; index < 10; index++) {
        const [saved] = await Promise.all([
          sessions.save(withEvents(session, said(`step ${index}`, run.turn)), { run }),
          other.take("s", input(`w${index}`)),
        ]);
        session = saved;
      }
      expect(texts(session)).toEqual(["words of 1", ...Array.from({ length: 10 }, (_, index) => `step ${index}`)]);
      expect((await sessions.finish(run))?.inputs).toHaveLength(10);
    });

    it("while one runs, a save from outside is stale, and so is one of the run from an old copy", async () => {
      const before = await sessions.create({ sessionId: "s" });
      const run = runOf(await sessions.take("s", input("1")));
      await expect(sessions.save(withEvents(before, said("outside")))).rejects.toMatchObject({ code: "SESSION_STALE" });
      const current = (await sessions.get("s")) as Session;
      await expect(sessions.save(withEvents(current, said("outside")))).rejects.toMatchObject({
        code: "SESSION_STALE",
      });
      await sessions.save(withEvents(run.session, said("one")), { run });
      await expect(sessions.save(withEvents(run.session, said("two")), { run })).rejects.toMatchObject({
        code: "SESSION_STALE",
      });
      await sessions.finish(run);
      const after = (await sessions.get("s")) as Session;
      expect(texts(await sessions.save(withEvents(after, said("outside"))))).toEqual(["words of 1", "one", "outside"]);
    });

    it("an input is at most 1,000,000 bytes as stored; the error says so, and nothing is stored", async () => {
      await sessions.create({ sessionId: "s" });
      const frame = JSON.stringify({ id: "1", content: "" }).length;
      for (const content of ["x".repeat(1_000_001 - frame), "é".repeat(500_000)]) {
        await expect(sessions.take("s", { id: "1", content })).rejects.toMatchObject({
          code: "INPUT_INVALID",
          message: expect.stringContaining("1,000,000"),
        });
      }
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
      const content = "x".repeat(1_000_000 - frame);
      expect(texts(runOf(await sessions.take("s", { id: "1", content })).session)).toEqual([content]);
    });

    it("so many may wait, and one more is not stored, so that it can come again", async () => {
      const manager = await another({ maxWaiting: 3 });
      const run = runOf(await manager.take("s", input("0"), { create: true }));
      for (const id of ["1", "2", "3"]) expect(await manager.take("s", input(id))).toEqual({ outcome: "waiting" });
      expect(await manager.take("s", input("4"))).toEqual({ outcome: "full", limit: 3 });
      expect(await manager.take("s", input("3"))).toEqual({ outcome: "known" });
      const next = (await manager.finish(run)) as Run;
      expect(next.inputs.map(({ id }) => id)).toEqual(["1", "2", "3"]);
      expect(await manager.take("s", input("4"))).toEqual({ outcome: "waiting" });
    });

    it("50 may wait unless another number is set", async () => {
      await sessions.take("s", input("0"), { create: true });
      const taken = await Promise.all(Array.from({ length: 51 }, (_, index) => sessions.take("s", input(`w${index}`))));
      expect(taken.map((each) => each.outcome)).toEqual([...Array.from({ length: 50 }, () => "waiting"), "full"]);
    });

    it("context that the session knows already is left out, so that nothing stands in it twice", async () => {
      const near = (id: string) => ({ id, author: { id: "6", name: "Bob" }, text: `near ${id}` });
      const first = runOf(await sessions.take("s", { ...input("1"), context: [near("0")] }, { create: true }));
      expect(first.session.events[0]?.context).toEqual([near("0")]);
      await sessions.take("s", { ...input("4"), context: [near("0"), near("1"), near("2"), near("3"), near("3")] });
      await sessions.take("s", { ...input("6"), context: [near("2"), near("4"), near("5")] });
      await sessions.take("s", { ...input("7"), context: [near("5")] });
      const next = (await sessions.finish(first)) as Run;
      expect(next.session.events.map((event) => event.context)).toEqual([
        [near("0")],
        [near("2"), near("3")],
        [near("5")],
        undefined,
      ]);
    });

    it("an input is a text or parts, under an id, with whole authors; the error names the path, and nothing is stored", async () => {
      const session = await sessions.create({ sessionId: "s" });
      const author = { id: "5", name: "Ada" };
      const near = { id: "0", author, text: "near" };
      const whole = { id: "1", content: "x", author, context: [near] };
      const wrong: [path: string, input: unknown][] = [
        ["input", "x"],
        ["input.id", { content: "x" }],
        ["input.id", { ...whole, id: "" }],
        ["input.content", { id: "1" }],
        ["input.content", { ...whole, content: 5 }],
        ["input.content[0]", { ...whole, content: ["x"] }],
        ["input.content[1].type", { ...whole, content: [{ type: "text", text: "x" }, {}] }],
        ["input.author", { ...whole, author: "Ada" }],
        ["input.author.name", { ...whole, author: { id: "5" } }],
        ["input.author.id", { ...whole, author: { id: 5, name: "Ada" } }],
        ["input.context", { ...whole, context: near }],
        ["input.context[1].text", { ...whole, context: [near, { id: "2", author }] }],
        ["input.context[0].author.name", { ...whole, context: [{ ...near, author: { id: "5" } }] }],
        ["input.context[0].id", { ...whole, context: [{ author, text: "near" }] }],
      ];
      for (const [path, each] of wrong) {
        const error = { code: "INPUT_INVALID", message: expect.stringContaining(path), fields: { path } };
        await expect(sessions.take("s", each as Input)).rejects.toMatchObject(error);
      }
      expect(await sessions.get("s")).toEqual(session);
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
      const content = [{ type: "text" as const, text: "part" }];
      expect(runOf(await sessions.take("s", { id: "1", content })).session.events[0]?.message).toEqual({
        role: "user",
        content,
      });
    });
  });

  describe("whose input is amended while it waits", () => {
    it("answer the new words, and the old ones are found nowhere", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      await sessions.take("s", {
        ...input("2", "the code is 4711"),
        author: { id: "5", name: "Ada" },
        replyTo: "there",
      });
      expect(await sessions.amend("s", { id: "2", content: "never mind" })).toBe(true);
      expect(JSON.stringify(await contents(store))).not.toContain("4711");
      const next = await sessions.finish(run);
      expect(next?.inputs).toEqual([{ id: "2", author: { id: "5", name: "Ada" }, replyTo: "there" }]);
      expect(texts(next?.session)).toEqual(["words of 1", "never mind"]);
    });

    it("stay as they are if it does not wait (any more), and refuse what is no input", async () => {
      expect(await sessions.amend("none", { id: "1", content: "x" })).toBe(false);
      runOf(await sessions.take("s", input("1"), { create: true }));
      expect(await sessions.amend("s", { id: "1", content: "x" })).toBe(false);
      expect(await sessions.amend("s", { id: "2", content: "x" })).toBe(false);
      await sessions.take("s", input("2"));
      for (const content of [5, "x".repeat(1_000_001)]) {
        const amending = sessions.amend("s", { id: "2", content: content as string });
        await expect(amending).rejects.toMatchObject({ code: "INPUT_INVALID" });
      }
      expect(texts(await sessions.get("s"))).toEqual(["words of 1"]);
    });
  });

  describe("that are reset", () => {
    it("forget their events, state and what waits, but not what was handled", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      await sessions.save({ ...withEvents(run.session, said("a")), state: { x: 1 } }, { run });
      await sessions.take("s", input("2"));
      expect(await sessions.reset("s")).toBe(true);
      expect(await sessions.get("s")).toMatchObject({ events: [], state: {}, earlier: 0 });
      expect(await sessions.take("s", input("1"))).toEqual({ outcome: "known" });
      expect(await sessions.take("s", input("2"))).toEqual({ outcome: "known" });
      const next = runOf(await sessions.take("s", input("3")));
      expect(next.inputs).toEqual([{ id: "3" }]);
      expect(texts(next.session)).toEqual(["words of 3"]);
    });

    it("during a run take it away: its result is neither stored nor does it start the next", async () => {
      const run = runOf(await sessions.take("s", input("1"), { create: true }));
      await (await another()).reset("s");
      await expect(sessions.save(withEvents(run.session, said("late")), { run, ended: {} })).rejects.toMatchObject({
        code: "RUN_LOST",
        fields: { sessionId: "s" },
      });
      const next = runOf(await sessions.take("s", input("2")));
      await expect(sessions.save(withEvents(run.session, said("late")), { run })).rejects.toMatchObject({
        code: "RUN_LOST",
      });
      expect(await sessions.finish(run)).toBeUndefined();
      await sessions.save(withEvents(next.session, said("new")), { run: next });
      expect(texts(await sessions.get("s"))).toEqual(["words of 2", "new"]);
    });

    it("make every copy stale", async () => {
      const old = await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("x")));
      await sessions.reset("s");
      await expect(sessions.save(withEvents(old, said("y")))).rejects.toBeInstanceOf(StaleSessionError);
    });

    it("leave all others alone, whatever their ids begin with", async () => {
      const ids = ["s", "s:1", "s.", "S", "s-2"];
      for (const id of ids) await sessions.take(id, input(`in ${id}`), { create: true });
      await sessions.reset("s");
      for (const id of ids.slice(1)) {
        expect(texts(await sessions.get(id))).toEqual([`words of in ${id}`]);
        expect(await sessions.take(id)).toEqual({ outcome: "idle" });
      }
    });

    it("or deleted leave no key of theirs behind", async () => {
      const before = await contents(store);
      const run = runOf(await sessions.take("s", input("1", "secret"), { create: true }));
      await sessions.take("s", input("2", "secret"));
      await sessions.save(withEvents(run.session, said("secret")), { run });
      await sessions.reset("s");
      const after = await contents(store);
      expect(Object.keys(after).filter((key) => !(key in before))).toEqual([controlKey("s")]);
      expect(JSON.stringify(after)).not.toContain("secret");
      await sessions.take("s", input("3", "secret"));
      expect(await sessions.delete("s")).toBe(true);
      expect(await contents(store)).toEqual(before);
      expect(await sessions.delete("s")).toBe(false);
      expect(await sessions.reset("s")).toBe(false);
      expect(runOf(await sessions.take("s", input("1"), { create: true })).inputs).toEqual([{ id: "1" }]);
    });

    it("or deleted with 2,500 events are rid of all of them", async () => {
      const before = await contents(store);
      const events = Array.from({ length: 2500 }, (_, index) => asked(`${index}`));
      await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), ...events));
      await sessions.delete("s");
      expect(await contents(store)).toEqual(before);
    });
  });

  describe("whose run is interrupted", () => {
    it("refuse its writes; what waits, waits on for whoever takes it", async () => {
      const run = runOf(await sessions.take("s", { ...input("1"), replyTo: "there" }, { create: true }));
      await sessions.take("s", input("2"));
      expect(await (await another()).interrupt("s")).toEqual([{ id: "1", replyTo: "there" }]);
      await expect(sessions.save(withEvents(run.session, said("late")), { run })).rejects.toMatchObject({
        code: "RUN_LOST",
      });
      expect(await sessions.finish(run)).toBeUndefined();
      expect(await sessions.unfinished()).toEqual(["s"]);
      expect(runOf(await sessions.take("s")).inputs).toEqual([{ id: "2" }]);
      expect(await sessions.unfinished()).toEqual([]);
    });

    it("say so if there was none", async () => {
      expect(await sessions.interrupt("none")).toEqual([]);
      await sessions.create({ sessionId: "s" });
      expect(await sessions.interrupt("s")).toEqual([]);
      expect(await sessions.unfinished()).toEqual([]);
    });
  });

  describe("whose owner is gone", () => {
    it("are taken over as they are: the turn goes on with its own inputs, and what waits makes the next", async () => {
      const dying = await another();
      const dead = runOf(await dying.take("s", { ...input("1"), replyTo: "there" }, { create: true }));
      expect(dead).not.toHaveProperty("resumed");
      await dying.save(withEvents(dead.session, said("half", dead.turn)), { run: dead });
      await sessions.take("s", input("2"));
      await dying.close();
      expect(await sessions.unfinished()).toEqual(["s"]);
      const run = runOf(await sessions.take("s", input("3")));
      expect(run).toMatchObject({ turn: dead.turn, inputs: [{ id: "1", replyTo: "there" }], resumed: true });
      expect(run.id).not.toBe(dead.id);
      expect(texts(run.session)).toEqual(["words of 1", "half"]);
      expect(await sessions.unfinished()).toEqual([]);
      await sessions.save(withEvents(run.session, said("whole", run.turn)), { run, ended: {} });
      const next = (await sessions.finish(run)) as Run;
      expect(next.inputs).toEqual([{ id: "2" }, { id: "3" }]);
      expect(next).not.toHaveProperty("resumed");
      expect(texts(next.session)).toEqual(["words of 1", "half", "whole", "words of 2", "words of 3"]);
    });

    it("are taken over by an input even if the queue is full: it would else never move again", async () => {
      const [dying, small] = [await another(), await another({ maxWaiting: 1 })];
      await dying.take("s", input("1"), { create: true });
      await small.take("s", input("2"));
      expect(await small.take("s", input("3"))).toEqual({ outcome: "full", limit: 1 });
      await dying.close();
      const run = runOf(await small.take("s", input("3")));
      expect(run.inputs).toEqual([{ id: "1" }]);
      expect((await small.finish(run))?.inputs).toEqual([{ id: "2" }, { id: "3" }]);
    });

    it("are taken up without a new input, too, and once only", async () => {
      const dying = await another();
      const dead = runOf(await dying.take("s", input("1"), { create: true }));
      await dying.close();
      const managers = [sessions, await another(), await another()];
      const taken = await Promise.all(managers.map((each) => each.take("s")));
      expect(taken.map((each) => each.outcome).sort()).toEqual(["idle", "idle", "run"]);
      const run = runOf(taken.find((each) => each.outcome === "run") as Taken);
      expect(run).toMatchObject({ turn: dead.turn, inputs: [{ id: "1" }] });
      expect(texts(run.session)).toEqual(["words of 1"]);
    });

    it("are handed out with their end if the turn was complete, to be shown and finished", async () => {
      const dying = await another();
      const dead = runOf(await dying.take("s", input("1"), { create: true }));
      await sessions.take("s", input("2"));
      const ended = { finishReason: "stop" };
      await dying.save(withEvents(dead.session, said("answer", dead.turn)), { run: dead, ended });
      await dying.close();
      expect(await sessions.unfinished()).toEqual(["s"]);
      const run = runOf(await sessions.take("s"));
      expect(run).toMatchObject({ turn: dead.turn, inputs: [{ id: "1" }], resumed: true, ended });
      expect(texts(run.session)).toEqual(["words of 1", "answer"]);
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
      // Whoever takes it up may die as well.
      sessions.release(run);
      const again = runOf(await sessions.take("s"));
      expect(again).toMatchObject({ turn: dead.turn, resumed: true, ended });
      const next = (await sessions.finish(again)) as Run;
      expect(next.inputs).toEqual([{ id: "2" }]);
      expect(next.turn).not.toBe(dead.turn);
      expect(next).not.toHaveProperty("ended");
      expect(await sessions.finish(next)).toBeUndefined();
      expect(await sessions.unfinished()).toEqual([]);
    });

    it("can be saved from outside", async () => {
      const dying = await another();
      await dying.take("s", input("1"), { create: true });
      await dying.close();
      const session = (await sessions.get("s")) as Session;
      expect(texts(await sessions.save(withEvents(session, said("outside"))))).toEqual(["words of 1", "outside"]);
    });

    it("but whose owner's record cannot be read are left alone, and hold up nobody", async () => {
      const [odd, gone] = [await another({ ownerId: "odd" }), await another()];
      await odd.take("s", input("1"), { create: true });
      await gone.take("t", input("1"), { create: true });
      await gone.close();
      await place.spoil(ownerKey("odd"));
      const next = await another();
      expect(await next.unfinished()).toEqual(["t"]);
      expect(await next.take("s", input("2"))).toEqual({ outcome: "waiting" });
      expect(await next.interrupt("s")).toHaveLength(1);
      expect(runOf(await next.take("s")).inputs).toEqual([{ id: "2" }]);
    });

    it("are left alone while it is there", async () => {
      const other = await another();
      await other.take("s", input("1"), { create: true });
      expect(await sessions.unfinished()).toEqual([]);
      expect(await sessions.take("s")).toEqual({ outcome: "idle" });
      expect(await sessions.take("s", input("2"))).toEqual({ outcome: "waiting" });
    });
  });

  describe("that are closed", () => {
    it("let what was begun end, refuse the rest, and leave the store open", async () => {
      const begun = sessions.take("s", input("1"), { create: true });
      await Promise.all([sessions.close(), sessions.close()]);
      expect((await begun).outcome).toBe("run");
      const calls: (() => Promise<unknown>)[] = [
        () => sessions.create(),
        () => sessions.get("s"),
        () => sessions.take("s"),
        async () => sessions.finish(runOf(await begun)),
        async () => sessions.save(runOf(await begun).session),
        () => sessions.interrupt("s"),
        () => sessions.unfinished(),
        () => sessions.reset("s"),
        () => sessions.delete("s"),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "STORE_CLOSED" });
      expect(await contents(store)).toHaveProperty(controlKey("s"));
      expect(Object.keys(await contents(store)).filter((key) => key.startsWith("owner/"))).toEqual([]);
    });
  });

  describe("whose record is damaged", () => {
    const damages: Record<string, () => Promise<void>> = {
      "is another one": () => put(store, controlKey("s"), '{"format":1,"revision":"x"}'),
      "cannot be read": () => place.spoil(controlKey("s")),
    };
    it.each(Object.entries(damages))(
      "since it %s are an error in every call but reset and delete, which are the ways out",
      async (_, damage) => {
        await sessions.take("s", input("1"), { create: true });
        const other = await sessions.create({ sessionId: "other" });
        await damage();
        const calls: (() => Promise<unknown>)[] = [
          () => sessions.get("s"),
          () => sessions.create({ sessionId: "s" }),
          () => sessions.take("s", input("2"), { create: true }),
          () => sessions.interrupt("s"),
        ];
        for (const call of calls)
          await expect(call()).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { sessionId: "s" } });
        expect(await sessions.get("other")).toEqual(other);
        expect(await sessions.reset("s")).toBe(true);
        expect(await sessions.take("s", input("3"))).toMatchObject({ outcome: "run" });
        await damage();
        expect(await (await another()).delete("s")).toBe(true);
        expect(Object.keys(await contents(store)).filter((key) => /\/s(?:\/|$)/.test(key))).toEqual([]);
      },
    );

    it("in an event that cannot be read are an error that names it, and can be reset", async () => {
      await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("a"), said("b")));
      await place.spoil(eventKey("s", 1));
      const error = {
        code: "STORE_CORRUPT",
        fields: { sessionId: "s" },
        message: expect.stringContaining("event 1 of"),
      };
      const cold = await another();
      await expect(cold.get("s")).rejects.toMatchObject(error);
      await expect(cold.take("s", input("1"))).rejects.toMatchObject(error);
      expect(await cold.reset("s")).toBe(true);
      expect(texts(runOf(await sessions.take("s", input("1"))).session)).toEqual(["words of 1"]);
    });

    it("by a newer program are refused and stay untouched, by delete too", async () => {
      const newer = '{"format":99,"everything":"is different"}';
      await put(store, controlKey("s"), newer);
      const calls = [
        () => sessions.get("s"),
        () => sessions.take("s", input("1")),
        () => sessions.reset("s"),
        () => sessions.delete("s"),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "STORE_FORMAT_NEWER" });
      expect((await store.get([controlKey("s")]))[0]?.value).toBe(newer);
    });
  });

  describe("in a store that fails at any one call of a turn", () => {
    /** A turn with a tool call: five commits. */
    const turn = async (manager: SessionManager): Promise<void> => {
      const run = runOf(await manager.take("s", input("1")));
      let session = await manager.save(withEvents(run.session, { ...said("call"), id: "call" }), { run });
      session = await manager.save(withEvents(session, { ...said("result"), id: "result" }), { run });
      await manager.save(
        { ...withEvents(session, { ...said("answer"), id: "answer" }), state: { done: true } },
        { run, ended: {} },
      );
      await manager.finish(run);
    };
    const steps = [
      ["earlier"],
      ["earlier", "words of 1"],
      ["earlier", "words of 1", "call"],
      ["earlier", "words of 1", "call", "result"],
    ];
    const whole = [...(steps[3] as string[]), "answer"];

    for (const failAfterwards of [false, true]) {
      it(`${failAfterwards ? "after it did it" : "before it did anything"}: the session is as after some whole number of commits, and the next turn works`, async () => {
        const seen = new Set<number>();
        let failed = true;
        for (let failAt = 1; failed; failAt++) {
          await sessions.delete("s");
          await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("earlier")));
          const faulty = new FaultyStore(store);
          const manager = await openSessions({ store: faulty });
          Object.assign(faulty, { failAt: faulty.calls + failAt, failAfterwards });
          failed = await turn(manager).then(
            () => false,
            (error) => hasCode(error, "STORE_UNAVAILABLE") || Promise.reject(error),
          );
          faulty.failAt = Number.POSITIVE_INFINITY;
          const after = (await sessions.get("s")) as Session;
          const commits = [...steps, whole].findIndex((step) => JSON.stringify(step) === JSON.stringify(texts(after)));
          expect(commits).toBeGreaterThanOrEqual(0);
          expect(after.state).toEqual(commits === 4 ? { done: true } : {});
          seen.add(commits);
          // The same process goes on: what it could not finish is nobody's, once it gave it back.
          const next = await manager.take("s", input("2"));
          if (next.outcome === "waiting") {
            // It was given out, and who had it has not given it back.
            expect(commits).toBeGreaterThanOrEqual(1);
            await manager.interrupt("s");
            expect(runOf(await manager.take("s")).inputs).toEqual([{ id: "2" }]);
          } else {
            const run = runOf(next);
            const covers = run.resumed ? await manager.finish(run) : run;
            expect(covers?.inputs.map(({ id }) => id)).toEqual(["2"]);
          }
          expect(texts(await sessions.get("s"))).toEqual([...(texts(after) as string[]), "words of 2"]);
          await manager.close();
        }
        expect([...seen].sort()).toEqual([0, 1, 2, 3, 4]);
      });
    }

    it("a run that could not be given out is taken over by the next input, which is not lost either", async () => {
      const faulty = new FaultyStore(store);
      const manager = await openSessions({ store: faulty });
      await manager.create({ sessionId: "s" });
      Object.assign(faulty, { failAt: faulty.calls + 1, failAfterwards: true });
      await expect(manager.take("s", input("1"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      const run = runOf(await manager.take("s", input("2")));
      expect(run).toMatchObject({ inputs: [{ id: "1" }], resumed: true });
      expect(texts(run.session)).toEqual(["words of 1"]);
      expect((await manager.finish(run))?.inputs).toEqual([{ id: "2" }]);
    });
  });

  it("that move under every attempt are an error after so many, not a loop without end", async () => {
    await sessions.create({ sessionId: "s" });
    const restless: Store = {
      description: "restless",
      get: (keys) => store.get(keys),
      keys: (prefix, options) => store.keys(prefix, options),
      commit: async ({ key, ...change }) => (key === controlKey("s") ? undefined : store.commit({ key, ...change })),
      close: async () => undefined,
    };
    const manager = await openSessions({ store: restless });
    await expect(manager.take("s", input("1"))).rejects.toMatchObject({
      code: "STORE_BUSY",
      fields: { sessionId: "s" },
    });
  });

  it("that are reset just as an input is taken give a run on what is there then", async () => {
    await sessions.save(withEvents(await sessions.create({ sessionId: "s" }), asked("old")));
    const other = await another();
    let pending = true;
    const slow: Store = {
      description: "slow",
      get: async (keys) => {
        // Between the look at the control and the look at the events.
        if (keys.length > 1 && pending) pending = !(await other.reset("s"));
        return store.get(keys);
      },
      keys: (prefix, options) => store.keys(prefix, options),
      commit: (change) => store.commit(change),
      close: async () => undefined,
    };
    const manager = await openSessions({ store: slow });
    const run = runOf(await manager.take("s", input("1", "new")));
    expect(pending).toBe(false);
    expect(texts(run.session)).toEqual(["new"]);
    expect(run.session).toEqual(await sessions.get("s"));
  });

  it("that are reset again and again under a reader never show a mixture, or an error", async () => {
    const other = await another();
    let writing = true;
    const rewrite = async () => {
      for (let round = 0; round < 25; round++) {
        await other.reset("s");
        const session = await other.create({ sessionId: "s" });
        await other.save(withEvents(session, ...Array.from({ length: 3 + (round % 50) }, () => asked(`${round}`))));
      }
      writing = false;
    };
    const read = async () => {
      while (writing) {
        const seen = texts(await sessions.get("s")) ?? [];
        expect(new Set(seen).size).toBeLessThanOrEqual(1);
      }
    };
    await Promise.all([rewrite(), read()]);
  });
});

it("What a session in a SQLite file forgot is in the bytes of none of its files", async () => {
  const place = await sqlitePlace();
  const store = await place.open();
  const sessions = await openSessions({ store });
  const bytes = async () => {
    const files = [place.path, `${place.path}-wal`].map((file) => readFile(file, "latin1"));
    return (await Promise.all(files)).join("");
  };
  try {
    for (const forget of ["reset", "delete"] as const) {
      const run = runOf(await sessions.take("s", input(`${forget}-1`, "Xylophon ".repeat(500)), { create: true }));
      await sessions.take("s", input(`${forget}-2`, "Xylophon waits"));
      await sessions.save(
        { ...withEvents(run.session, said("Xylophon answered")), state: { note: "Xylophon" } },
        { run },
      );
      await sessions.save(withEvents(await sessions.create({ sessionId: `kept-${forget}` }), asked("Triangel")));
      expect(await bytes()).toContain("Xylophon");
      await sessions[forget]("s");
      expect(await bytes()).not.toContain("Xylo");
      expect(await bytes()).toContain("Triangel");
    }
  } finally {
    await sessions.close();
    await store.close();
    await place.remove();
  }
});

it("While another program holds the SQLite file, a save waits, then is a clear error; the session is never empty, and goes on", async () => {
  const place = await sqlitePlace();
  const store = await openSqliteStore(place.path, { busyTimeout: 50 });
  const sessions = await openSessions({ store });
  const other = new KeyvSqlite({ uri: `sqlite://${place.path}` });
  try {
    const run = runOf(await sessions.take("s", input("1"), { create: true }));
    await other.query("BEGIN IMMEDIATE");
    await expect(sessions.save(withEvents(run.session, said("answer")), { run })).rejects.toMatchObject({
      code: "STORE_BUSY",
    });
    await expect(sessions.take("s", input("2"))).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(await sessions.get("s")).toEqual(run.session);
    await other.query("COMMIT");
    await sessions.save(withEvents(run.session, said("answer")), { run, ended: {} });
    expect(await sessions.take("s", input("2"))).toEqual({ outcome: "waiting" });
    expect(texts((await sessions.finish(run))?.session)).toEqual(["words of 1", "answer", "words of 2"]);
  } finally {
    await other.disconnect();
    await sessions.close();
    await store.close();
    await place.remove();
  }
});
