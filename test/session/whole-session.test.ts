import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkStore } from "../../src/session/check-store.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { formatLines, parseLines } from "../../src/session/session-lines.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { sessionIds } from "../../src/session/store-walk.ts";
import { readWholeSession, type WholeSession, writeWholeSession } from "../../src/session/whole-session.ts";
import { put } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const author = (id: string) => ({ id, name: `Name ${id}` });

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
}

async function* asLines(text: string): AsyncGenerator<string> {
  yield* text.split("\n");
}

/** Three sessions with all that a session can have. */
async function fill(store: Store): Promise<void> {
  const sessions = await openSessions({ store });
  for (const sessionId of ["a", "discord:1", "~odd"]) {
    await sessions.create({ sessionId, state: { step: 1, odd: "\u2028 \ud800" } });
    await say(sessions, sessionId, `${sessionId}-1`, "hello\u2028 there");
    await say(sessions, sessionId, `${sessionId}-2`, "x".repeat(40_000));
  }
  await summarise(sessions, "discord:1");
  await sessions.take("a", { id: "a-3", content: "waits", author: author("7") }, { start: false });
  await sessions.erase(["a-1"]);
  await sessions.close();
}

async function say(sessions: SessionManager, sessionId: string, id: string, content: string): Promise<void> {
  const context = [{ id: `${id}-near`, author: author("9"), text: "near by" }];
  const taken = await sessions.take(sessionId, {
    id,
    content,
    author: author("5"),
    context,
    places: ["here", "there"],
  });
  if (taken.outcome !== "run") throw new Error(taken.outcome);
  const { run } = taken;
  const { session } = run;
  const answer: SessionEvent = {
    id: `${id}-answer`,
    at: new Date().toISOString(),
    turn: run.turn,
    message: { role: "assistant", content: `answer to ${id}` },
  };
  await sessions.save({ ...session, events: [...session.events, answer] }, { run });
  await sessions.finish(run, { start: false });
}

async function summarise(sessions: SessionManager, sessionId: string): Promise<void> {
  const session = await sessions.get(sessionId);
  const upTo = session?.events.find(({ id }) => id === `${sessionId}-2`)?.seq;
  if (!session || upTo === undefined) throw new Error("nothing to summarise");
  expect(await sessions.summarise(session, { upTo, text: "they said hello" })).toBe(true);
}

async function linesOf(store: Store): Promise<string> {
  let lines = "";
  for await (const sessionId of sessionIds(store)) {
    lines += [...formatLines((await readWholeSession(store, sessionId)) as WholeSession)].join("");
  }
  return lines;
}

describe.each(everyPlace)("Sessions carried from memory to $kind", ({ makePlace }) => {
  it("are the same there, byte for byte, and found by all that they were found by", async () => {
    const from = openMemoryStore();
    await fill(from);
    const lines = await linesOf(from);
    const place = await makePlace();
    const to = await place.open();
    for await (const whole of parseLines(asLines(lines))) expect(await writeWholeSession(to, whole)).toBe(true);
    expect(await linesOf(to)).toBe(lines);
    expect(lines).toContain("they said hello");
    expect(await collect(checkStore(to))).toEqual([]);

    const [before, after] = await Promise.all([from, to].map((store) => openSessions({ store })));
    const found = async (sessions: SessionManager | undefined) => [
      await sessions?.list(),
      await sessions?.list({ place: "there" }),
      await sessions?.list({ user: "9" }),
      await sessions?.list({ user: "7" }),
      await sessions?.unfinished(),
    ];
    expect(await found(after)).toEqual(await found(before));
    const [one, other] = await Promise.all([before?.get("discord:1"), after?.get("discord:1")]);
    expect({ ...other, version: "" }).toEqual({ ...one, version: "" });
    expect(other?.version).not.toBe(one?.version);
    expect(await after?.take("a", { id: "a-1", content: "known" })).toEqual({ outcome: "known" });
    expect(await after?.erase(["discord:1-2-near"])).toEqual(["discord:1"]);
    await before?.close();
    await after?.close();
    await to.close();
    await place.remove();
  });
});

describe("A session that is carried elsewhere", () => {
  it("never takes the place of one that is there, a plain Keyv's neither", async () => {
    const store = openMemoryStore();
    await fill(store);
    const whole = (await readWholeSession(store, "a")) as WholeSession;
    const before = await linesOf(store);
    expect(await writeWholeSession(store, whole)).toBe(false);
    await put(store, "naive", JSON.stringify({ events: [], state: {} }));
    expect(await writeWholeSession(store, { ...whole, sessionId: "naive" })).toBe(false);
    expect(await linesOf(store)).toContain(before.slice(0, 1000));
  });

  it("may be one that a plain Keyv kept", async () => {
    const store = openMemoryStore();
    await put(store, "naive", JSON.stringify({ events: [{ role: "user", content: "hello" }], state: { n: 1 } }));
    expect(await collect(sessionIds(store))).toEqual(["naive"]);
    const whole = (await readWholeSession(store, "naive")) as WholeSession;
    const to = openMemoryStore();
    await writeWholeSession(to, whole);
    const sessions = await openSessions({ store: to });
    expect(await sessions.get("naive")).toMatchObject({
      state: { n: 1 },
      events: [{ message: { role: "user", content: "hello" } }],
    });
    await sessions.close();
  });

  it("is nothing where there is none, and is not read where it is damaged", async () => {
    const map = new Map<string, string>();
    const store = openMemoryStore(map);
    expect(await readWholeSession(store, "none")).toBeUndefined();
    await fill(store);
    map.delete("keyv:event/a/0000000001");
    await expect(readWholeSession(store, "a")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(readWholeSession(store, "not/an/id")).rejects.toMatchObject({ code: "SESSION_ID_INVALID" });
  });

  it("of a session that moves while it is read is one of its states; of one that never stands still an error", async () => {
    const store = openMemoryStore();
    await fill(store);
    const sessions = await openSessions({ store });
    let resets = 0;
    const moving: Store = {
      description: store.description,
      keys: store.keys.bind(store),
      commit: store.commit.bind(store),
      close: store.close.bind(store),
      get: async (keys) => {
        const found = await store.get(keys);
        if (keys.length === 2 && resets++ < 3) await sessions.erase([`a-${resets}`, "discord:1-2"]);
        return found;
      },
    };
    expect((await readWholeSession(moving, "discord:1"))?.events).toHaveLength(4);
    const restless: Store = {
      ...moving,
      get: async (keys) => {
        const found = await store.get(keys);
        if (keys.length !== 2) return found;
        const text = found[0]?.value as string;
        const other = text.replace(/"revision":"[^"]*"/, '"revision":"another"');
        return [{ value: other, version: "x" }, undefined];
      },
    };
    await expect(readWholeSession(restless, "a")).rejects.toMatchObject({ code: "STORE_BUSY" });
    await sessions.close();
  });
});

describe("Lines of sessions", () => {
  const valid = async () => {
    const store = openMemoryStore();
    await fill(store);
    return (await linesOf(store)).split("\n");
  };
  const wrong = async (lines: readonly string[]) => {
    const read: string[] = [];
    try {
      for await (const { sessionId } of parseLines(asLines(lines.join("\n")))) read.push(sessionId);
    } catch (error) {
      return { read, error };
    }
    return { read, error: undefined };
  };

  it("of which any one is changed or missing name it, and give no part of a session", async () => {
    const lines = await valid();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(lines.length - 2),
        fc.constantFrom("", "{", "5", "[]", "{}", '{"session":"x"}', '{"event":{}}', '{"event":null}'),
        async (at, instead) => {
          const { read, error } = await wrong(lines.with(at, instead));
          expect(error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringMatching(/^line \d+: /) });
          expect(read.length).toBeLessThan(3);
          if (instead !== "") expect((error as Error).message).toMatch(new RegExp(`^line ${at + 1}: `));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("that end too early say in which line the session began", async () => {
    const lines = await valid();
    expect((await wrong(lines.slice(0, 3))).error).toMatchObject({
      message: expect.stringMatching(/^line 3: session .*, which begins in line 1, is not complete/),
    });
  });

  it("may have empty ones between them", async () => {
    const lines = await valid();
    expect(await wrong(lines.flatMap((line) => ["", line, " "]))).toEqual({
      read: ["a", "discord:1", "~odd"],
      error: undefined,
    });
  });

  it("of a record that is none, of a newer format or with a wrong id are refused", async () => {
    for (const [head, message] of [
      ['{"session":"x/y","events":0,"record":{}}', /a session id is/],
      ['{"session":"x","events":0,"record":{}}', /not a record/],
      ['{"session":"x","events":0,"record":{"format":99}}', /newer program/],
      ['{"session":"x","events":-1,"record":{}}', /how many events/],
      ['{"session":"x","events":0}', /no record/],
    ] as const) {
      expect((await wrong([head])).error).toMatchObject({ message: expect.stringMatching(message) });
    }
  });
});
