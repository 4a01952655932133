import { spawnSync } from "node:child_process";
import { createClient, type RedisClientType } from "@keyv/redis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openRedisStore } from "../../../src/session/store/redis.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { logLines } from "../../support/log-lines.ts";
import { type OwnRedis, ownRedis } from "../../support/redis-server.ts";
import { contents, put, storeContract, write } from "../../support/store-contract.ts";
import { redisPlace, type ServerPlace } from "../../support/store-places.ts";
import { redisServer } from "../../support/test-servers.ts";

const noBinary = spawnSync("redis-server", ["--version"]).status !== 0;

describe.skipIf(redisServer.missing)(`Redis ${redisServer.missing ?? ""}`, () => {
  storeContract("A store in Redis", redisPlace);

  describe("A store in Redis", () => {
    let place: ServerPlace;
    let client: RedisClientType;
    let log: ReturnType<typeof logLines>;
    const toClose: (() => Promise<unknown>)[] = [];
    const open = async (setting = place.setting): Promise<Store> => {
      const store = await openRedisStore(setting, { log: log.log, timeout: 2000 });
      toClose.unshift(() => store.close());
      return store;
    };
    const physical = (key: string) => `${place.namespace}::${place.namespace}:${key}`;
    const warnings = () => log.lines.filter(({ level }) => level === 40).map(({ msg }) => msg);

    beforeEach(async () => {
      log = logLines();
      place = await redisPlace();
      client = createClient({ url: redisServer.url }) as RedisClientType;
      await client.connect();
    });
    afterEach(async () => {
      for (const close of toClose.splice(0)) await close();
      await client.close();
      await place.remove();
    });

    it("may be named as Valkey, which speaks the same", async () => {
      await put(await open(place.setting.replace("redis:", "valkey:")), "a", "1");
      expect(await contents(await open())).toEqual({ a: "1" });
    });

    it("never takes what is no string, or no text, for absent; it can be replaced and removed", async () => {
      const store = await open();
      await write(store, { key: "good", put: { good: "1", list: "2", hash: "3", bytes: "4" } });
      await client.del([physical("list"), physical("hash")]);
      await client.rPush(physical("list"), ["x", "y"]);
      await client.hSet(physical("hash"), "x", "y");
      await client.set(physical("bytes"), Buffer.from([0xff, 0xfe, 0x00, 0xc3]));
      for (const key of ["list", "hash", "bytes"]) {
        const [found] = await store.get([key]);
        expect(found).toEqual({ value: undefined, version: expect.anything() });
        expect(await write(store, { key, put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: "another", put: { [key]: "no" } })).toBe(false);
        expect(await write(store, { key, was: found?.version, put: { [key]: "new" } })).toBe(true);
      }
      expect(await contents(store)).toEqual({ good: "1", list: "new", hash: "new", bytes: "new" });
    });

    it("lists what a plain Keyv had written before, and what came back without the list", async () => {
      const store = await open();
      const rows = Object.fromEntries(Array.from({ length: 2500 }, (_, index) => [`row/${index}`, "x"]));
      await write(store, { key: "a", put: { a: "1", ...rows } });
      await store.close();
      await client.set(physical("by-keyv"), '{"value":"2"}');
      await client.del(`${place.namespace}:all-keys`);
      const again = await open();
      expect(await again.keys("", { limit: 5000 })).toEqual(["a", "by-keyv", ...Object.keys(rows)].sort());
    });

    it("lists all again when the list was lost under it, or who made it was killed on the way", async () => {
      const store = await open();
      await write(store, { key: "a", put: { a: "1", b: "2", c: "3" } });
      await client.del(`${place.namespace}:all-keys`);
      await put(store, "d", "4");
      const reader = await openRedisStore(place.setting, { readOnly: true });
      expect(await reader.keys("")).toEqual(["a", "b", "c", "d"]);
      expect(await reader.keys("", { after: "a", limit: 2 })).toEqual(["b", "c"]);
      await reader.close();
      expect(await client.zRange(`${place.namespace}:all-keys`, 0, -1)).toEqual(["d"]);
      expect(await (await open()).keys("")).toEqual(["a", "b", "c", "d"]);
      expect(await store.keys("", { limit: 1 })).toEqual(["a"]);
    });

    it("goes on when the server has forgotten the scripts", async () => {
      const store = await open();
      await put(store, "a", "1");
      await client.scriptFlush();
      await put(store, "a", "2");
      await client.scriptFlush();
      expect(await contents(store)).toEqual({ a: "2" });
    });

    it("changes nothing if its list of keys is none", async () => {
      const store = await open();
      await put(store, "a", "1");
      await client.del(`${place.namespace}:all-keys`);
      await client.set(`${place.namespace}:all-keys`, "no list");
      const [a] = await store.get(["a"]);
      await expect(write(store, { key: "a", was: a?.version, put: { a: "2", b: "2" } })).rejects.toMatchObject({
        code: "UNEXPECTED",
      });
      expect((await store.get(["a", "b"])).map((each) => each?.value)).toEqual(["1", undefined]);
    });

    it("forgets: the words are in no key", async () => {
      const store = await open();
      await write(store, { key: "a", put: { a: "Xylophonquartett", b: "Xylophonquartett" } });
      const [a] = await store.get(["a"]);
      await write(store, { key: "a", was: a?.version, put: { a: "empty" }, remove: ["b"], forget: true });
      expect(await client.mGet([physical("a"), physical("b")])).toEqual(['{"value":"empty"}', null]);
      expect(await client.zRange(`${place.namespace}:all-keys`, 0, -1)).toEqual(["", "a"]);
    });

    describe.skipIf(noBinary)(`on a server of its own ${noBinary ? "(skipped: no redis-server here)" : ""}`, () => {
      let own: OwnRedis;
      const start = async (...settings: string[]) => {
        const server = await ownRedis(...settings);
        toClose.push(() => server.remove());
        own = server;
      };

      it("warns of a server that keeps nothing, or may throw away; not of a durable one", async () => {
        await start("--appendonly", "no", "--maxmemory-policy", "allkeys-lru");
        await open(own.url);
        expect(warnings()).toEqual([
          expect.stringContaining("set appendonly yes"),
          expect.stringContaining("set maxmemory-policy noeviction"),
        ]);
        await start("--appendonly", "yes", "--appendfsync", "always");
        await open(own.url);
        expect(warnings()).toHaveLength(2);
      });

      it("reads what a server tells that does not let its settings be read", async () => {
        await start("--appendonly", "no", "--rename-command", "CONFIG", "");
        await open(own.url);
        expect(warnings()).toEqual([expect.stringContaining("set appendonly yes")]);
      });

      it("refuses a cluster, where several keys can't be changed together", async () => {
        await start("--cluster-enabled", "yes");
        await expect(open(own.url)).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringContaining("is a cluster"),
        });
      });

      it("refuses a wrong password, and says no word of it", async () => {
        await start("--requirepass", "right-word");
        const wrong = open(own.url.replace("//", "//:hidden-word@"));
        await expect(wrong).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          message: expect.stringContaining("check user and password"),
        });
        await expect(wrong).rejects.not.toThrow("hidden-word");
        await expect(open(own.url)).rejects.toMatchObject({ message: expect.stringContaining("refused the login") });
        await put(await open(own.url.replace("//", "//:right-word@")), "a", "1");
      });

      it("without memory left is full, has written nothing of the commit, and still reads and removes", async () => {
        await start("--maxmemory", "6mb", "--maxmemory-policy", "noeviction");
        const store = await open(own.url);
        await write(store, { key: "a", put: { a: "1", b: "1" } });
        const large = "x".repeat(300_000);
        let refused: unknown;
        for (let index = 0; index < 40 && !refused; index++) {
          await write(store, { key: `k${index}`, put: { [`k${index}`]: large, [`k${index}/row`]: large } }).catch(
            (error) => {
              refused = error;
              return store
                .get([`k${index}`, `k${index}/row`])
                .then((left) => expect(left).toEqual([undefined, undefined]));
            },
          );
        }
        expect(refused).toMatchObject({ code: "STORE_FULL" });
        const [a] = await store.get(["a"]);
        await expect(write(store, { key: "a", was: a?.version, put: { a: "2", b: large } })).rejects.toMatchObject({
          code: "STORE_FULL",
        });
        expect((await store.get(["a", "b"])).map((each) => each?.value)).toEqual(["1", "1"]);
      });

      it("with appendfsync always has each confirmed commit after the server was killed, and none in part", async () => {
        await start("--appendonly", "yes", "--appendfsync", "always");
        const store = await open(own.url);
        let confirmed = 0;
        for (let kill = 0; kill < 3; kill++) {
          const killing = new Promise((done) => setTimeout(done, 60 + 40 * kill)).then(() => own.kill());
          try {
            for (;;) {
              const [a] = await store.get(["a"]);
              const next = `${Number(a?.value ?? 0) + 1}`;
              await write(store, { key: "a", was: a?.version, put: { a: next, b: next, c: next } });
              confirmed = Number(next);
            }
          } catch (error) {
            expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
          }
          await killing;
          await own.start();
          await vi.waitFor(() => store.get(["a"]), { timeout: 10_000, interval: 50 });
          const values = Object.values(await contents(store));
          expect(values).toEqual([values[0], values[0], values[0]]);
          expect(Number(values[0])).toBeGreaterThanOrEqual(confirmed);
        }
        expect(confirmed).toBeGreaterThan(10);
        expect(warnings().filter((each) => each.includes("connection is lost"))).toHaveLength(3);
        expect(log.lines.filter(({ msg }) => msg.includes("is there again"))).toHaveLength(3);
      });
    });
  });
});
