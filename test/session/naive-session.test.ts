import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseNaive } from "../../src/session/naive-session.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { contents } from "../support/store-contract.ts";
import { sqlitePlace } from "../support/store-places.ts";

const messages = [
  { role: "user", content: "one" },
  { role: "user", content: [{ type: "text", text: "more" }] },
  { role: "assistant", content: "answer" },
  { role: "user", content: "two" },
];
const envelope = (id: string, role = "user") => ({
  id,
  seq: 77,
  at: "then",
  turn: "t",
  message: { role, content: id },
});
const parse = (value: unknown) => parseNaive("s", JSON.stringify(value));

describe("What a plain Keyv kept under a session's id", () => {
  it("becomes events with turns of their own, if it is messages of the AI SDK", () => {
    const { control, naive } = parse({ sessionId: "s", events: messages, state: { n: 1 } });
    expect(naive.events.map(({ message }) => message)).toEqual(messages);
    expect(naive.events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    const turns = naive.events.map(({ turn }) => turn);
    expect(turns.map((turn) => turns.indexOf(turn))).toEqual([0, 0, 0, 3]);
    expect(new Set(naive.events.map(({ id }) => id)).size).toBe(4);
    expect(control).toMatchObject({ count: 4, state: { n: 1 }, waiting: [] });
  });

  it("stays what it is, if it is our envelopes, and their inputs are known", () => {
    const author = { id: "5", name: "Ada" };
    const events = [{ ...envelope("a"), author }, envelope("b", "assistant")];
    const { control, naive } = parse({ events });
    expect(naive.events).toEqual(events.map((event, seq) => ({ ...event, seq })));
    expect(control).toMatchObject({ count: 2, state: {}, handled: { recent: ["a"] } });
  });

  it("may be nothing yet, and a text that was JSON already", () => {
    expect(parseNaive("s", '{"events":[]}').naive.events).toEqual([]);
  });

  it.each([
    ["cannot be read", undefined],
    ["is no JSON", "{"],
    ["is a number", "5"],
    ["has no events", "{}"],
    ["is another session's", '{"sessionId":"other","events":[]}'],
    ["has a state that is none", '{"events":[],"state":[]}'],
    ["has an event that is none", '{"events":["hello"]}'],
    ["has a message of nobody", '{"events":[{"role":"judge","content":"x"}]}'],
    ["has an envelope without a turn", '{"events":[{"id":"a","at":"then","message":{"role":"user","content":"x"}}]}'],
    ["has an event twice", JSON.stringify({ events: [envelope("a"), envelope("a")] })],
  ])("is damaged if it %s, and the error names the session", (_, text) => {
    expect(() => parseNaive("s", text)).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT", fields: { sessionId: "s" } }),
    );
  });
});

describe("A session that a plain Keyv kept", () => {
  const map = new Map<string, string>();
  let store: Store;
  let sessions: SessionManager;
  beforeEach(async () => {
    map.clear();
    await new Keyv({ store: map }).set("s", { sessionId: "s", events: messages, state: { n: 1 } });
    store = openMemoryStore(map);
    sessions = await openSessions({ store });
  });
  afterEach(() => sessions.close());

  it("goes on where it was, in any call, and stands under one commit's keys from then on", async () => {
    const run = await sessions.take("s", { id: "1", content: "three" });
    if (run.outcome !== "run") throw new Error(run.outcome);
    expect(run.run.session).toMatchObject({ state: { n: 1 }, earlier: 0 });
    expect(run.run.session.events.map(({ message }) => message)).toEqual([
      ...messages,
      { role: "user", content: "three" },
    ]);
    const keys = Object.keys(await contents(store));
    expect(keys).toContain("control/s");
    expect(keys).not.toContain("s");
    expect(await (await openSessions({ store })).get("s")).toEqual(run.run.session);
  });

  it("is read, and not made again, by create and get; and is gone by delete", async () => {
    expect((await sessions.create({ sessionId: "s", state: { other: true } })).state).toEqual({ n: 1 });
    const other = await openSessions({ store });
    expect((await other.get("s"))?.events).toHaveLength(4);
    await sessions.delete("s");
    expect(Object.keys(await contents(store)).filter((key) => /(?:^|\/)s(?:\/|$)/.test(key))).toEqual([]);
  });

  it("does not come back, forgotten, by what the other bot still wrote when it was moved already", async () => {
    const old = map.get("keyv:s") as string;
    for (const forget of ["reset", "delete"] as const) {
      await sessions.get("s");
      map.set("keyv:s", old);
      expect(await sessions[forget]("s")).toBe(true);
      expect(map.has("keyv:s")).toBe(false);
    }
    expect(await sessions.get("s")).toBeUndefined();
  });

  it("is one session, however many open it at once", async () => {
    const managers = await Promise.all(Array.from({ length: 4 }, () => openSessions({ store })));
    const read = await Promise.all(managers.map((manager) => manager.get("s")));
    expect(new Set(read.map((session) => JSON.stringify(session))).size).toBe(1);
    expect(read[0]?.events).toHaveLength(4);
  });

  it("that is none is an error in every call but reset and delete, and stays untouched", async () => {
    await new Keyv({ store: map }).set("s", { words: "something else" });
    const before = map.get("keyv:s");
    for (const call of [
      () => sessions.get("s"),
      () => sessions.create({ sessionId: "s" }),
      () => sessions.take("s", { id: "1", content: "x" }, { create: true }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining(store.description),
        fields: { sessionId: "s" },
      });
    }
    expect(map.get("keyv:s")).toBe(before);
    expect((await sessions.create({ sessionId: "other" })).events).toEqual([]);
    expect(await sessions.delete("s")).toBe(true);
    expect(map.has("keyv:s")).toBe(false);
    expect((await sessions.create({ sessionId: "s" })).events).toEqual([]);
  });
});

it("A SQLite file of a plain Keyv is one of ours from its first turn on", async () => {
  const place = await sqlitePlace();
  const keyv = new Keyv({ store: new KeyvSqlite({ uri: `sqlite://${place.path}` }) });
  const events = Array.from({ length: 10_000 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index}`,
  }));
  await keyv.set("s", { sessionId: "s", events, state: {} });
  await keyv.disconnect();
  const store = await place.open();
  const sessions = await openSessions({ store });
  try {
    const taken = await sessions.take("s", { id: "1", content: "hello" });
    expect(taken.outcome === "run" && taken.run.session.events.at(-2)?.message.content).toBe("message 9999");
    expect(await store.get(["s"])).toEqual([undefined]);
  } finally {
    await sessions.close();
    await store.close();
    await place.remove();
  }
});
