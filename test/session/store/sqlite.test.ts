import { fork } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSqliteStore, type SqliteOptions } from "../../../src/session/store/sqlite.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { contents, put, storeContract, write } from "../../support/store-contract.ts";
import { sqlitePlace } from "../../support/store-places.ts";

storeContract("A store in a SQLite file", sqlitePlace);

describe("A store in a SQLite file", () => {
  let directory: string;
  let path: string;
  const toClose: (() => Promise<unknown>)[] = [];

  const open = async (options?: SqliteOptions): Promise<Store> => {
    const store = await openSqliteStore(path, options);
    toClose.unshift(() => store.close());
    return store;
  };
  /** Another program's connection to the same file. */
  const connect = (): KeyvSqlite => {
    const adapter = new KeyvSqlite({ uri: `sqlite://${path}`, busyTimeout: 5000 });
    toClose.unshift(() => adapter.disconnect());
    return adapter;
  };
  const mode = async (file: string): Promise<string> => ((await stat(file)).mode & 0o777).toString(8);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "threadkeeper-store-"));
    path = join(directory, "sessions.sqlite");
  });
  afterEach(async () => {
    vi.useRealTimers();
    for (const close of toClose.splice(0)) await close();
    await rm(directory, { recursive: true });
  });

  describe("is Keyv's own", () => {
    it("so that a plain Keyv on the file reads the very same string", async () => {
      const store = await open();
      const value = '{"format":1,"text":"Grüße, \\"Welt\\" 👋"}';
      await put(store, "control/discord:1", value);
      await put(store, "odd", ":base64:aGk=");
      const keyv = new Keyv({ store: connect() });
      expect(await keyv.get("control/discord:1")).toBe(value);
      expect(await keyv.get("odd")).toBe(":base64:aGk=");
    });

    it("so that what a plain Keyv wrote is read", async () => {
      const store = await open();
      await new Keyv({ store: connect() }).set("key", ":by Keyv");
      expect((await store.get(["key"]))[0]?.value).toBe(":by Keyv");
    });

    it("and its keys stand in the file under Keyv's default namespace", async () => {
      const store = await open();
      await put(store, "control/discord:1", "x");
      expect(await connect().query("SELECT * FROM keyv")).toEqual([
        { key: "keyv:control/discord:1", value: '{"value":"x"}' },
      ]);
      expect(await connect().query("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")).toEqual([
        { type: "table", name: "keyv" },
      ]);
    });
  });

  describe("is for this user only", () => {
    it("whatever the umask: its directory 0700, its files 0600", async () => {
      const umask = process.umask(0);
      try {
        path = join(directory, "data", "deep", "sessions.sqlite");
        const store = await open();
        await put(store, "a", "1");
        expect(await mode(join(directory, "data"))).toBe("700");
        expect(await mode(join(directory, "data", "deep"))).toBe("700");
        for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(await mode(file)).toBe("600");
      } finally {
        process.umask(umask);
      }
    });

    it("also when others could read its files before", async () => {
      const other = connect();
      await other.query("PRAGMA journal_mode=WAL");
      await other.query("CREATE TABLE t (x)");
      for (const file of [path, `${path}-wal`, `${path}-shm`]) await chmod(file, 0o644);
      await open();
      for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(await mode(file)).toBe("600");
    });

    it("but a directory that was there keeps its mode", async () => {
      await chmod(directory, 0o755);
      await open();
      expect(await mode(directory)).toBe("755");
    });
  });

  it("opens for many at once, on a file that nobody has made yet", async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => open()));
    await Promise.all(stores.map((store, index) => put(store, `k${index}`, "1")));
    expect(await stores[0]?.keys("")).toHaveLength(6);
  });

  it("opened twice in one process keeps its log when another process comes and goes", async () => {
    const [store] = [await open(), await open()];
    await put(store, "a", "1");
    const { ino } = await stat(`${path}-wal`);
    const child = fork(
      resolve(import.meta.dirname, "../../support/contending-writer.ts"),
      [`sqlite:${path}`, "w", "1"],
      {
        execArgv: ["--import", "tsx"],
      },
    );
    await once(child, "message");
    child.send("go");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect((await stat(`${path}-wal`)).ino).toBe(ino);
    await put(store, "a", "2");
    expect((await connect().query("SELECT value FROM keyv WHERE key = 'keyv:a'"))[0]).toEqual({
      value: '{"value":"2"}',
    });
  });

  it("is backed up whole by VACUUM INTO while it is written to, and the copy opens in its place", async () => {
    const store = await open();
    let writing = true;
    const write3 = async () => {
      for (let index = 0; writing; index++) {
        const [a] = await store.get(["a"]);
        await write(store, { key: "a", was: a?.version, put: { a: `${index}`, b: `${index}`, c: "x".repeat(5000) } });
      }
    };
    const writer = write3();
    await vi.waitFor(async () => expect(Number((await store.get(["a"]))[0]?.value)).toBeGreaterThan(5));
    const copy = join(directory, "backup.sqlite");
    await connect().query(`VACUUM INTO '${copy}'`);
    writing = false;
    await writer;
    const restored = await openSqliteStore(copy);
    const { a, b } = await contents(restored);
    expect(Number(a)).toBeGreaterThan(5);
    expect(b).toBe(a);
    await restored.close();
    expect(await mode(copy)).toBe("600");
  });

  describe("that cannot be opened is a clear error", () => {
    const refused = async (code: string, message: RegExp): Promise<void> => {
      await expect(open({ busyTimeout: 50 })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    };

    it("when the path is a directory", async () => {
      await mkdir(path);
      await refused("STORE_UNAVAILABLE", /is a directory/);
    });

    it("when a part of the path is a file", async () => {
      await writeFile(path, "");
      path = join(path, "deep", "sessions.sqlite");
      await refused("STORE_UNAVAILABLE", /is a file and no directory/);
    });

    it("when the name is longer than a file system takes", async () => {
      path = join(directory, `${"x".repeat(300)}.sqlite`);
      await refused("STORE_UNAVAILABLE", /cannot be opened.*ENAMETOOLONG/);
    });

    it("when the file is no database, which is left as it is", async () => {
      await writeFile(path, "Dear diary, ".repeat(1000));
      await chmod(path, 0o644);
      await refused("STORE_CORRUPT", /is not a SQLite database/);
      expect(await readFile(path, "utf8")).toBe("Dear diary, ".repeat(1000));
      expect((await stat(path)).mode & 0o777).toBe(0o644);
    });

    it("when the database is damaged", async () => {
      const store = await open();
      await put(store, "a", "x".repeat(100_000));
      await store.close();
      const bytes = await readFile(path);
      await writeFile(path, bytes.fill(0xab, 100, 4096));
      await refused("STORE_CORRUPT", /is damaged/);
    });

    it("when another program holds its lock", async () => {
      const other = connect();
      await other.query("BEGIN EXCLUSIVE");
      await refused("STORE_BUSY", /is locked/);
      await other.query("ROLLBACK");
      await put(await open(), "a", "1");
    });

    it("when this user may not write there", async () => {
      await (await open()).close();
      await chmod(path, 0o400);
      await asSomebodyElse(async () => {
        await refused("STORE_UNAVAILABLE", /no permission/);
      });
    });
  });

  describe("under a lock that another program holds", () => {
    it("waits, and writes when it is free", async () => {
      const store = await open();
      const other = connect();
      await other.query("BEGIN IMMEDIATE");
      const waiting = write(store, { key: "a", put: { a: "1" } });
      await other.query("INSERT INTO keyv VALUES ('keyv:other', '{\"value\":\"2\"}')");
      await other.query("COMMIT");
      expect(await waiting).toBe(true);
      expect(await contents(store)).toEqual({ a: "1", other: "2" });
    });

    it("is busy after a while, never empty, and loses nothing", async () => {
      const store = await open({ busyTimeout: 50 });
      await put(store, "a", "1");
      const other = connect();
      await other.query("BEGIN IMMEDIATE");
      const refused = await Promise.allSettled([put(store, "b", "2"), write(store, { key: "c", put: { c: "3" } })]);
      for (const each of refused) expect(each).toMatchObject({ reason: { code: "STORE_BUSY" } });
      expect(await contents(store)).toEqual({ a: "1" });
      await other.query("COMMIT");
      await put(store, "b", "2");
      expect(await contents(store)).toEqual({ a: "1", b: "2" });
    });
  });

  describe("with something wrong in it", () => {
    it("never takes a value that cannot be read for absent, gives the others, and takes another in its place", async () => {
      const store = await open();
      await write(store, { key: "good", put: { good: "1", text: "2", number: "3", none: "4", blob: "5" } });
      const other = connect();
      await other.query("UPDATE keyv SET value = 'garbage' WHERE key = 'keyv:text'");
      await other.query("UPDATE keyv SET value = '{\"value\":5}' WHERE key = 'keyv:number'");
      await other.query("UPDATE keyv SET value = NULL WHERE key = 'keyv:none'");
      await other.query("UPDATE keyv SET value = x'00ff' WHERE key = 'keyv:blob'");
      const [good, ...bad] = await store.get(["good", "text", "number", "none", "blob"]);
      expect(good?.value).toBe("1");
      for (const [index, key] of ["text", "number", "none", "blob"].entries()) {
        expect(bad[index]).toHaveProperty("value", undefined);
        expect(await write(store, { key, put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: "another", put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: bad[index]?.version, put: { [key]: "new" } })).toBe(true);
      }
      expect(await contents(store)).toEqual({ good: "1", text: "new", number: "new", none: "new", blob: "new" });
    });

    it("of which a page is damaged fails those who want what stands there, and nobody who asks at the same time", async () => {
      const store = await open();
      const long = "x".repeat(20_000);
      await write(store, { key: "a", put: { a: long, b: "fine" } });
      await store.close();
      const pageSize = 4096;
      const bytes = await readFile(path);
      const pages = Array.from({ length: bytes.length / pageSize }, (_, page) => page * pageSize);
      // A page of nothing but the long value begins with the number of the page where it goes on.
      const page = pages.find((at) => bytes.toString("latin1", at + 4, at + pageSize) === long.slice(0, pageSize - 4));
      bytes.writeUInt32BE(0xffff_fff0, page as number);
      await writeFile(path, bytes);
      const again = await open();
      const [a, b] = await Promise.allSettled([again.get(["a"]), again.get(["b"])]);
      expect(a).toMatchObject({ status: "rejected", reason: { code: "STORE_CORRUPT" } });
      expect(b).toMatchObject({ status: "fulfilled", value: [{ value: "fine" }] });
    });

    it("refuses a value that it cannot store alone; what waited with it is written", async () => {
      const store = await open();
      const other = connect();
      await other.query(`CREATE TRIGGER refuse BEFORE INSERT ON keyv WHEN NEW.value LIKE '%poison%'
        BEGIN SELECT RAISE(ABORT, 'no poison here'); END`);
      const commits = Array.from({ length: 20 }, (_, index) =>
        write(store, {
          key: `k${index}`,
          put: { [`k${index}`]: "1", [`row/${index}`]: index === 7 ? "poison" : "food" },
        }),
      );
      const settled = await Promise.allSettled(commits);
      expect(settled[7]).toMatchObject({
        reason: { code: "UNEXPECTED", message: expect.stringContaining("no poison here") },
      });
      expect(settled.filter((each) => each.status === "fulfilled" && each.value)).toHaveLength(19);
      expect(await store.get(["k7", "row/7"])).toEqual([undefined, undefined]);
      expect(await store.keys("row/")).toHaveLength(19);
    });
  });

  describe("forgets", () => {
    const word = "Xylophonquartett";
    const bytes = async (): Promise<string> => {
      const files = [path, `${path}-wal`, `${path}-shm`].map((file) => readFile(file, "latin1").catch(() => ""));
      return (await Promise.all(files)).join("");
    };
    const fill = async (store: Store): Promise<void> => {
      // Small and large values, grown and shrunk, so that pages are split, merged and freed.
      for (let round = 0; round < 6; round++) {
        const rows = Object.fromEntries(
          Array.from({ length: 60 }, (_, index) => [
            `event/gone/${String(round * 60 + index).padStart(10, "0")}`,
            `${word} `.repeat(1 + ((index * 7 + round * 13) % 40) ** 2),
          ]),
        );
        const kept = { [`event/kept/${round}`]: "kept ".repeat(round * 200) };
        const [control] = await store.get(["control/gone"]);
        const control2 = `${round} ${word} `.repeat(round % 2 === 0 ? 300 : 1);
        await write(store, {
          key: "control/gone",
          was: control?.version,
          put: { ...rows, ...kept, "control/gone": control2 },
        });
      }
    };
    const forget = async (store: Store): Promise<void> => {
      const [control] = await store.get(["control/gone"]);
      const remove = await store.keys("event/gone/");
      const put = { "control/gone": "empty" };
      expect(await write(store, { key: "control/gone", was: control?.version, put, remove, forget: true })).toBe(true);
    };

    it("in the bytes of all its files, at once", async () => {
      const store = await open();
      await fill(store);
      expect(await bytes()).toContain(word);
      await forget(store);
      expect(await bytes()).not.toContain(word.slice(0, 8));
      expect(await bytes()).toContain("kept");
      expect((await stat(`${path}-wal`)).size).toBe(0);
    });

    it("as soon as it can, if another program is reading meanwhile", async () => {
      const store = await open();
      await fill(store);
      const other = connect();
      await other.query("BEGIN");
      await other.query("SELECT count(*) FROM keyv");
      await forget(store);
      expect(await bytes()).toContain(word);
      await other.query("COMMIT");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2000 });
      await put(store, "anything", "1");
      expect(await bytes()).not.toContain(word.slice(0, 8));
    });

    it("at the latest when it closes", async () => {
      const store = await open();
      await fill(store);
      const other = connect();
      await other.query("BEGIN");
      await other.query("SELECT count(*) FROM keyv");
      await forget(store);
      await other.query("COMMIT");
      await store.close();
      expect(await bytes()).not.toContain(word.slice(0, 8));
    });
  });
});

/** Runs `job` without the rights of root, whom permissions don't stop. */
async function asSomebodyElse(job: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await job();
  } finally {
    if (root) process.seteuid?.(0);
  }
}
