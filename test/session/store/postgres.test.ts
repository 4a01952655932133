import { KeyvPostgres } from "@keyv/postgres";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { randomId } from "../../../src/session/random-id.ts";
import { openPostgresStore } from "../../../src/session/store/postgres.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { logLines } from "../../support/log-lines.ts";
import { contents, put, storeContract, write } from "../../support/store-contract.ts";
import { postgresPlace, type ServerPlace } from "../../support/store-places.ts";
import { postgresServer } from "../../support/test-servers.ts";

describe.skipIf(postgresServer.missing)(`PostgreSQL ${postgresServer.missing ?? ""}`, () => {
  storeContract("A store in PostgreSQL", postgresPlace);

  describe("A store in PostgreSQL", () => {
    let place: ServerPlace;
    let pool: Pool;
    const toClose: (() => Promise<unknown>)[] = [];
    const open = async (setting = place.setting): Promise<Store> => {
      const store = await openPostgresStore(setting, { log: log.log });
      toClose.unshift(() => store.close());
      return store;
    };
    let log: ReturnType<typeof logLines>;
    const warnings = () => log.lines.filter(({ level }) => level === 40).map(({ msg }) => msg);

    beforeEach(async () => {
      log = logLines();
      place = await postgresPlace();
      pool = new Pool({ connectionString: postgresServer.url });
    });
    afterEach(async () => {
      for (const close of toClose.splice(0)) await close();
      await pool.end();
      await place.remove();
    });

    /** A database of this test alone. */
    const ownDatabase = async (how = ""): Promise<string> => {
      const name = `t${randomId()}`;
      await pool.query(`CREATE DATABASE ${name} TEMPLATE template0 ${how}`);
      toClose.push(() => pool.query(`DROP DATABASE ${name} WITH (FORCE)`));
      const url = new URL(postgresServer.url);
      url.pathname = name;
      return url.href;
    };

    it("lists keys in the order of their characters, whatever the database's language, and by an index", async () => {
      const keys = ["a/1", "a/10", "a/2", "aX", "a_1", "a%1", "A/1", "a", "a/", "b/1", "B"];
      for (const madeByKeyv of [true, false]) {
        const url = await ownDatabase("ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en'");
        if (madeByKeyv) {
          const keyv = new KeyvPostgres(url);
          await keyv.set("keyv:before", '{"value":"1"}');
          await keyv.disconnect();
        }
        const store = await open(url);
        await write(store, { key: "a", put: Object.fromEntries(keys.map((key) => [key, "x"])) });
        expect(await store.keys("")).toEqual([...keys, ...(madeByKeyv ? ["before"] : [])].sort());
        expect(await store.keys("a/", { after: "a/1" })).toEqual(["a/10", "a/2"]);
        const there = new Pool({ connectionString: url });
        await there.query(`INSERT INTO public.keyv SELECT 'keyv:event/' || n, 'x' FROM generate_series(1, 20000) AS n`);
        await there.query("ANALYZE public.keyv");
        const { rows } = await there.query(
          `EXPLAIN SELECT key FROM public.keyv WHERE key COLLATE "C" >= 'keyv:event/19' AND key COLLATE "C" < 'keyv:event/1a'
           ORDER BY key COLLATE "C" LIMIT 100`,
        );
        expect(JSON.stringify(rows)).toMatch(/Index (?:Only )?Scan/);
        await there.end();
      }
    });

    it("made by several at once, in a database where nothing is yet, opens for all", async () => {
      const url = await ownDatabase();
      const stores = await Promise.all(Array.from({ length: 5 }, () => open(url)));
      await Promise.all(stores.map((store, index) => put(store, `k${index}`, "1")));
      expect(await stores[0]?.keys("")).toHaveLength(5);
    });

    it("that is only looked at makes no table, and says that there is none", async () => {
      const url = await ownDatabase();
      for (let times = 0; times < 2; times++) {
        await expect(openPostgresStore(url, { readOnly: true })).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringMatching(/has no table.*nothing was ever kept there.*SESSION_STORE.*restore a backup/),
        });
      }
      await (await open(url)).close();
      const reader = await openPostgresStore(url, { readOnly: true });
      toClose.unshift(() => reader.close());
      expect(await contents(reader)).toEqual({});
      const there = new Pool({ connectionString: url });
      await there.query("DROP TABLE public.keyv").finally(() => there.end());
      await expect(contents(reader)).rejects.toMatchObject({
        message: expect.stringContaining("no longer has its table"),
      });
    });

    it("warns of settings that lose what was confirmed", async () => {
      await open();
      expect(warnings()).toEqual([]);
      await open(`${place.setting}&options=-c%20synchronous_commit%3Doff`);
      expect(warnings()).toEqual([expect.stringContaining("synchronous_commit=off")]);
      const url = await ownDatabase();
      const unlogged = new KeyvPostgres({ uri: url, useUnloggedTable: true });
      await unlogged.set("a", "1");
      await unlogged.disconnect();
      await open(url);
      expect(warnings().slice(1)).toEqual([expect.stringContaining("SET LOGGED")]);
    });

    it("keeps a guard that is absent and stays so against one who writes it meanwhile", async () => {
      const [store, other] = [await open(), await open()];
      for (let round = 0; round < 30; round++) {
        const guard = `guard/${round}`;
        const [unmoved, moved] = await Promise.all([
          write(store, { key: guard, put: { [`row/${round}`]: "unmoved" } }),
          write(other, { key: guard, put: { [guard]: "1", [`row/${round}`]: "moved" } }),
        ]);
        const [row, there] = await store.get([`row/${round}`, guard]);
        expect(moved).toBe(true);
        expect([row?.value, there?.value]).toEqual(["moved", "1"]);
        expect(typeof unmoved).toBe("boolean");
      }
    });

    it("leaves no trace of what stood in for an absent guard", async () => {
      const store = await open();
      expect(await write(store, { key: "guard", put: { row: "1" } })).toBe(true);
      expect(await write(store, { key: "guard", put: { row: "2" }, remove: ["guard"] })).toBe(true);
      expect(await contents(store)).toEqual({ row: "2" });
      await write(store, { key: "guard", put: { guard: "1" } });
      expect(await write(store, { key: "guard", put: { row: "3" } })).toBe(false);
      expect(await contents(store)).toEqual({ row: "2", guard: "1" });
    });

    it("writes what waits together for guards in opposite order, in many connections, without a deadlock", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => open()));
      const names = Array.from({ length: 12 }, (_, index) => `g/${index}`);
      await Promise.all(names.map((name) => put(stores[0] as Store, name, "0")));
      const add = async (store: Store, name: string): Promise<void> => {
        for (;;) {
          const [guard] = await store.get([name]);
          const next = { [name]: `${Number(guard?.value) + 1}`, shared: name };
          if (await write(store, { key: name, was: guard?.version, put: next })) return;
        }
      };
      await Promise.all(
        stores.flatMap((store, index) => (index % 2 ? names : [...names].reverse()).map((name) => add(store, name))),
      );
      const { shared: _shared, ...counts } = await contents(stores[0] as Store);
      expect(Object.values(counts)).toEqual(names.map(() => "4"));
    });

    it("works where transactions are serializable by default: what got in each other's way is made again", async () => {
      const setting = `${place.setting}&options=-c%20default_transaction_isolation%3Dserializable`;
      const stores = [await open(setting), await open(setting)];
      const all = stores.flatMap((store, index) =>
        Array.from({ length: 40 }, (_, each) => put(store, `k/${index}/${each}`, "1")),
      );
      await Promise.all(all);
      expect(await stores[0]?.keys("k/", { limit: 100 })).toHaveLength(80);
    });

    it("never takes a value that cannot be read for absent, NULL neither", async () => {
      const store = await open();
      await write(store, { key: "a", put: { a: "1", none: "2", number: "3" } });
      const set = "UPDATE public.keyv SET value = $2 WHERE key = $1";
      await pool.query(set, [`${place.namespace}:none`, null]);
      await pool.query(set, [`${place.namespace}:number`, '{"value":5}']);
      for (const key of ["none", "number"]) {
        const [found] = await store.get([key]);
        expect(found).toEqual({ value: undefined, version: expect.anything() });
        expect(await write(store, { key, put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: "another", put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: found?.version, put: { [key]: "new" } })).toBe(true);
      }
      expect(await contents(store)).toEqual({ a: "1", none: "new", number: "new" });
    });

    it("that takes no writes does not open", async () => {
      const readOnly = `${place.setting}&options=-c%20default_transaction_read_only%3Don`;
      await expect(open(readOnly)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("takes no writes"),
      });
      await expect(open(postgresServer.url.replace(/\/[^/]*$/, "/nowhere"))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("create it"),
      });
    });

    it("whose connections are ended by the administrator while idle goes on with new ones", async () => {
      const store = await open(`${place.setting}&application_name=${place.namespace}`);
      await put(store, "a", "1");
      await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [
        place.namespace,
      ]);
      expect(await contents(store)).toEqual({ a: "1" });
      // A write may meet a connection of which nobody has noticed yet that it is gone; it is not made twice.
      await vi.waitFor(() => put(store, "a", "2"), { timeout: 5000 });
      expect(await contents(store)).toEqual({ a: "2" });
    });

    it("writes what waits together with one statement", async () => {
      const store = await open(`${place.setting}&application_name=${place.namespace}`);
      const before = await commits();
      await Promise.all(
        Array.from({ length: 64 }, (_, index) => write(store, { key: `k${index}`, put: { [`k${index}`]: "1" } })),
      );
      expect((await commits()) - before).toBeLessThan(2);
      expect(await store.keys("k")).toHaveLength(64);
    });

    /** How many transactions wrote rows of this test, by the number that each row carries of its own. */
    async function commits(): Promise<number> {
      const { rows } = await pool.query(
        "SELECT count(DISTINCT xmin::text)::int AS n FROM public.keyv WHERE starts_with(key, $1)",
        [`${place.namespace}:`],
      );
      return rows[0]?.["n"] as number;
    }

    it("forgets: the words are in no row", async () => {
      const store = await open();
      await write(store, { key: "a", put: { a: "Xylophonquartett", b: "Xylophonquartett" } });
      const [a] = await store.get(["a"]);
      await write(store, { key: "a", was: a?.version, put: { a: "empty" }, remove: ["b"], forget: true });
      const { rows } = await pool.query(
        "SELECT key FROM public.keyv WHERE value LIKE '%Xylophon%' AND starts_with(key, $1)",
        [place.namespace],
      );
      expect(rows).toEqual([]);
    });
  });
});
