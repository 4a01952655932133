import { KeyvSqlite } from "@keyv/sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { controlKey, eventKey } from "../../src/session/session-record.ts";
import { openSqliteStore } from "../../src/session/store/sqlite.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { drain, shape, transcript } from "../support/agent-room.ts";
import { type ScriptedPart, scriptedModel } from "../support/scripted-model.ts";
import { contents, put } from "../support/store-contract.ts";
import { sqlitePlace } from "../support/store-places.ts";
import { expectWhole } from "../support/whole-session.ts";

/** The store's own connection, so that it can be taken the disk, and the right to write. */
const connection = vi.hoisted(() => ({ query: (async () => []) as (sql: string) => Promise<unknown[]> }));
vi.mock("@keyv/sqlite", async (importOriginal) => {
  const original = await importOriginal<typeof import("@keyv/sqlite")>();
  class Known extends original.KeyvSqlite {
    constructor(options: ConstructorParameters<typeof original.KeyvSqlite>[0]) {
      super(options);
      if (typeof options === "object" && options.busyTimeout === 51) connection.query = (sql) => this.query(sql);
    }
  }
  return { ...original, KeyvSqlite: Known };
});

const long = "A long answer. ".repeat(20_000);

describe("A store that goes bad", () => {
  let place: Awaited<ReturnType<typeof sqlitePlace>>;
  let store: Store;
  beforeEach(async () => {
    place = await sqlitePlace();
    store = await openSqliteStore(place.path, { busyTimeout: 51 });
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  /** All but who is there, and who works on what. */
  const kept = async () =>
    Object.entries(await contents(store)).filter(([key]) => !/^(?:owner|alive|open|control\/s$)/.test(key));

  const openAgent = async (...steps: ScriptedPart[][]) => {
    const sessions = await openSessions({ store, takeOverMs: 600_000 });
    return { sessions, agent: new Agent({ model: scriptedModel(steps), sessions, maxRetries: 0 }) };
  };

  let holder: KeyvSqlite;
  const troubles = {
    "whose disk is full": {
      code: "STORE_FULL",
      begin: async () => {
        const [row] = (await connection.query("PRAGMA page_count")) as { page_count: number }[];
        await connection.query(`PRAGMA max_page_count=${(row?.page_count ?? 0) + 1}`);
      },
      end: () => connection.query("PRAGMA max_page_count=1000000"),
    },
    "that may no longer be written": {
      code: "STORE_UNAVAILABLE",
      begin: () => connection.query("PRAGMA query_only=ON"),
      end: () => connection.query("PRAGMA query_only=OFF"),
    },
    "that another program holds": {
      code: "STORE_BUSY",
      begin: async () => {
        holder = new KeyvSqlite({ uri: `sqlite://${place.path}` });
        await holder.query("BEGIN IMMEDIATE");
      },
      end: async () => {
        await holder.query("COMMIT");
        await holder.disconnect();
      },
    },
  };

  it.each(Object.entries(troubles))(
    "in mid-turn, %s, is a typed error that names session and store; the data stay, and the next turn works",
    async (_, { code, begin, end }) => {
      let go: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      const { agent, sessions } = await openAgent(["Hello."], ["fine"], [held, long], ["Told again."], ["Back again."]);
      await agent.run("hello", { sessionId: "s", create: true });
      await agent.run("hello", { sessionId: "other", create: true });
      const stream = agent.stream("tell me", { sessionId: "s" });
      await stream.next();
      const before = await kept();
      const reading = drain(stream);
      await begin();
      go();
      const { events } = await reading;
      const failure = events.find((event) => event.type === "turn-failed");
      expect(failure).toMatchObject({ error: { code, fields: { sessionId: "s", store: store.description } } });
      expect(shape(events).at(-1)).toBe(`turn-failed ${code}`);
      // What can be read is read: of this session and of the others.
      expect(await transcript(sessions, "other")).toEqual(["user: hello", "assistant: fine"]);
      expect((await transcript(sessions, "s")).at(-1)).toBe("user: tell me");
      await end();
      expect(await kept()).toEqual(before);
      // What could not even be given back is gone on with first.
      expect((await agent.run("again", { sessionId: "s" }))?.text).toMatch(/^(?:Told|Back) again\.$/);
      expect((await transcript(sessions, "s")).slice(-2)[0]).toBe("user: again");
      await expectWhole(store, "s");
      await sessions.close();
    },
  );

  it.each([
    ["a corrupt control", "STORE_CORRUPT", () => put(store, controlKey("s"), '{"format":2}')],
    ["a control that cannot be read", "STORE_CORRUPT", () => place.spoil(controlKey("s"))],
    ["an event that is missing", "STORE_CORRUPT", () => place.spoil(eventKey("s", 0))],
    ["a control of a newer format", "STORE_FORMAT_NEWER", () => put(store, controlKey("s"), '{"format":99}')],
    ["an event of a newer format", "STORE_FORMAT_NEWER", () => put(store, eventKey("s", 0), '{"format":99}')],
  ])(
    "with %s fails the calls of that session, changes nothing, and leaves the others alone",
    async (_, code, damage) => {
      const first = await openAgent(["Hello."], ["fine"]);
      await first.agent.run("hello", { sessionId: "s", create: true });
      await first.agent.run("hello", { sessionId: "other", create: true });
      await first.sessions.close();
      await damage();
      const rows = async () => [await kept(), await store.get([controlKey("s")])];
      const before = await rows();
      const { agent, sessions } = await openAgent(["Still here."]);
      for (const call of [() => agent.run("x", { sessionId: "s" }), () => sessions.get("s")]) {
        await expect(call()).rejects.toMatchObject({
          code,
          message: expect.stringContaining(store.description),
          fields: { sessionId: "s", store: store.description },
        });
      }
      expect(await rows()).toEqual(before);
      expect((await agent.run("and you?", { sessionId: "other" }))?.text).toBe("Still here.");
      await sessions.close();
    },
  );
});
