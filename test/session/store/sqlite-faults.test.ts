import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyvSqlite } from "@keyv/sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSqliteStore } from "../../../src/session/store/sqlite.ts";
import { contents, put, write } from "../../support/store-contract.ts";

type Query = KeyvSqlite["query"];

/** The real adapter, with a hand on its connection: what is asked of it, and what it answers. */
const connection = vi.hoisted(() => ({
  asked: [] as string[],
  query: (async () => []) as Query,
  answer: undefined as ((sql: string, real: () => Promise<unknown>) => Promise<unknown>) | undefined,
}));

vi.mock("@keyv/sqlite", async (importOriginal) => {
  const original = await importOriginal<typeof import("@keyv/sqlite")>();
  class Watched extends original.KeyvSqlite {
    constructor(options: ConstructorParameters<typeof original.KeyvSqlite>[0]) {
      super(options);
      const real = this.query;
      connection.query = real;
      this.query = (sql, ...parameters) => {
        connection.asked.push(sql);
        const ask = () => real(sql, ...parameters);
        return connection.answer ? connection.answer(sql, ask) : ask();
      };
    }
  }
  return { ...original, KeyvSqlite: Watched };
});

function driverError(message: string, errno: number): Error {
  return Object.assign(new Error(message), { errno });
}

describe("A store in a SQLite file", () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "threadkeeper-faults-"));
    path = join(directory, "sessions.sqlite");
    connection.asked = [];
    connection.answer = undefined;
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("runs with a log, a sync of each commit, a wait for locks, and deletion that overwrites", async () => {
    const store = await openSqliteStore(path, { busyTimeout: 1234 });
    const settings = ["journal_mode", "synchronous", "busy_timeout", "secure_delete"];
    const values = await Promise.all(
      settings.map(async (setting) => Object.values((await connection.query(`PRAGMA ${setting}`))[0])[0]),
    );
    expect(values).toEqual(["wal", 2, 1234, 1]);
    await store.close();
  });

  for (const setting of ["journal_mode", "synchronous", "busy_timeout", "secure_delete"]) {
    it(`does not open if ${setting} stays what it was`, async () => {
      connection.answer = async (sql, real) =>
        sql === `PRAGMA ${setting}` ? [{ [setting]: "something else" }] : real();
      await expect(openSqliteStore(path)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining(setting),
      });
    });
  }

  it("does not open if a setting has no answer at all", async () => {
    connection.answer = async (sql, real) => (sql === "PRAGMA synchronous" ? [] : real());
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("does not open if what is written does not come back", async () => {
    connection.answer = async (sql, real) => (sql.startsWith("SELECT key, value") ? [] : real());
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("does not give back"),
    });
  });

  it("does not open if Keyv cannot write", async () => {
    connection.answer = async (sql, real) => {
      if (/INSERT INTO keyv \(key, value\)\s+VALUES/.test(sql)) throw driverError("SQLITE_READONLY", 8);
      return real();
    };
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("cannot be written"),
    });
  });

  it("waits while another process changes the file to a log, which SQLite does not do by itself", async () => {
    let busy = 3;
    connection.answer = async (sql, real) => {
      if (sql === "PRAGMA journal_mode=WAL" && busy-- > 0) throw driverError("SQLITE_BUSY", 5);
      return real();
    };
    const store = await openSqliteStore(path);
    await put(store, "a", "1");
    await store.close();
  });

  it("on a full disk says so to all who wait, and goes on when there is room", async () => {
    const store = await openSqliteStore(path);
    await put(store, "a", "1");
    const [pages] = await connection.query("PRAGMA page_count");
    await connection.query(`PRAGMA max_page_count=${pages.page_count + 1}`);
    const large = "x".repeat(200_000);
    const refused = await Promise.allSettled([put(store, "b", large), write(store, { key: "c", put: { c: large } })]);
    for (const each of refused)
      expect(each).toMatchObject({ reason: { code: "STORE_FULL", message: expect.stringContaining("make room") } });
    expect(await contents(store)).toEqual({ a: "1" });
    await connection.query("PRAGMA max_page_count=1000000");
    await put(store, "b", large);
    expect(Object.keys(await contents(store))).toEqual(["a", "b"]);
    await store.close();
  });

  it("writes what waits together with one statement, and reads so too", async () => {
    const store = await openSqliteStore(path);
    connection.asked = [];
    await Promise.all(
      Array.from({ length: 64 }, (_, index) => write(store, { key: `k${index}`, put: { [`k${index}`]: "1" } })),
    );
    expect(connection.asked).toHaveLength(1);
    await Promise.all(Array.from({ length: 64 }, (_, index) => store.get([`k${index}`])));
    expect(connection.asked).toHaveLength(2);
    await store.close();
  });

  it("has at most one write and one read in flight, so that the process's thread pool stays free", async () => {
    const store = await openSqliteStore(path);
    const inFlight = new Map<string, number>();
    let most = 0;
    connection.answer = async (sql, real) => {
      const kind = sql.includes("INSERT") ? "write" : "read";
      inFlight.set(kind, (inFlight.get(kind) ?? 0) + 1);
      most = Math.max(most, ...inFlight.values());
      const result = await real();
      inFlight.set(kind, (inFlight.get(kind) ?? 0) - 1);
      return result;
    };
    const calls = Array.from({ length: 300 }, (_, index) => [
      write(store, { key: `k${index}`, put: { [`k${index}`]: "1" } }),
      store.get([`k${index}`]),
    ]);
    await Promise.all(calls.flat());
    expect(most).toBe(1);
    await store.close();
  });

  it("removes in the statement that writes: a crash between the two is not possible", async () => {
    const store = await openSqliteStore(path);
    await write(store, { key: "a", put: { a: "1", b: "2" } });
    connection.asked = [];
    const [a] = await store.get(["a"]);
    await write(store, { key: "a", was: a?.version, put: { a: "2" }, remove: ["b"] });
    expect(connection.asked.filter((sql) => sql.includes("keyv"))).toHaveLength(2);
    await store.close();
  });

  it("keeps a commit that was made, even if the log cannot be emptied yet", async () => {
    const store = await openSqliteStore(path);
    connection.answer = async (sql, real) => {
      if (sql.includes("wal_checkpoint")) throw driverError("SQLITE_LOCKED", 6);
      return real();
    };
    expect(await write(store, { key: "a", put: { a: "1" }, forget: true })).toBe(true);
    connection.answer = undefined;
    expect(Object.values((await connection.query("PRAGMA busy_timeout"))[0])).toEqual([5000]);
    await store.close();
  });

  it("gives a driver's failure that says nothing a plain name, and keeps it as the cause", async () => {
    const store = await openSqliteStore(path);
    const strange = new TypeError("strange");
    connection.answer = async () => {
      throw strange;
    };
    await expect(store.keys("a")).rejects.toMatchObject({ code: "UNEXPECTED", cause: strange });
    connection.answer = undefined;
    await store.close();
  });
});
