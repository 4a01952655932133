import { setTimeout as pause } from "node:timers/promises";
import { KeyvPostgres } from "@keyv/postgres";
import KeyvRedis from "@keyv/redis";
import { Keyv, type KeyvStoreAdapter } from "keyv";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ErrorCode } from "../../../src/errors.ts";
import { openPostgresStore, type ServerOptions } from "../../../src/session/store/postgres.ts";
import { openRedisStore } from "../../../src/session/store/redis.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { logLines } from "../../support/log-lines.ts";
import { contents, put, write } from "../../support/store-contract.ts";
import { postgresPlace, redisPlace, type ServerPlace } from "../../support/store-places.ts";
import { type TcpProxy, tcpProxy } from "../../support/tcp-proxy.ts";
import { postgresServer, redisServer, type TestServer } from "../../support/test-servers.ts";

interface Kind {
  readonly name: string;
  readonly server: TestServer;
  readonly makePlace: () => Promise<ServerPlace>;
  readonly open: (setting: string, options?: ServerOptions) => Promise<Store>;
  /** A plain adapter, as somebody else would make it. */
  readonly adapter: (url: string) => KeyvStoreAdapter & { disconnect(): Promise<void> };
}

const kinds: Kind[] = [
  {
    name: "PostgreSQL",
    server: postgresServer,
    makePlace: postgresPlace,
    open: openPostgresStore,
    adapter: (url) => new KeyvPostgres(url) as ReturnType<Kind["adapter"]>,
  },
  {
    name: "Redis",
    server: redisServer,
    makePlace: redisPlace,
    open: openRedisStore,
    adapter: (url) => new KeyvRedis(url) as unknown as ReturnType<Kind["adapter"]>,
  },
];

const timeout = 400;

for (const { name, server, makePlace, open, adapter } of kinds) {
  describe.skipIf(server.missing)(`A store in ${name} ${server.missing ?? ""}`, () => {
    let place: ServerPlace;
    let proxy: TcpProxy;
    let setting: string;
    let log: ReturnType<typeof logLines>;
    const toClose: (() => Promise<unknown>)[] = [];
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);

    const openHere = async (options?: ServerOptions, at = setting): Promise<Store> => {
      const store = await open(at, { timeout, log: log.log, ...options });
      toClose.unshift(() => store.close());
      return store;
    };
    const refused = (code: ErrorCode, message = /./) =>
      expect.objectContaining({ code, message: expect.stringMatching(message) });
    /** Waits until the store answers again. */
    const back = (store: Store) => vi.waitFor(() => store.get(["anything"]), { timeout: 5000, interval: 50 });

    beforeEach(async () => {
      place = await makePlace();
      log = logLines();
      const { hostname, port } = new URL(server.url);
      proxy = await tcpProxy(hostname, Number(port));
      setting = place.setting.replace(`${hostname}:${port}`, `127.0.0.1:${proxy.port}`);
      process.on("uncaughtException", note);
      process.on("unhandledRejection", note);
    });
    afterEach(async () => {
      for (const close of toClose.splice(0)) await close();
      await proxy.close();
      await place.remove();
      process.off("uncaughtException", note);
      process.off("unhandledRejection", note);
      expect(unhandled.splice(0)).toEqual([]);
    });

    it("stands as Keyv itself would write it: a plain Keyv reads the very same string, and is read", async () => {
      const store = await openHere();
      await put(store, "control/discord:1", '{"format":1,"text":"Grüße 👋"}');
      await put(store, "odd", ":base64:aGk=");
      const theirs = adapter(server.url);
      toClose.unshift(() => theirs.disconnect());
      const keyv = new Keyv({ store: theirs, namespace: place.namespace });
      expect(await keyv.get("control/discord:1")).toBe('{"format":1,"text":"Grüße 👋"}');
      expect(await keyv.get("odd")).toBe(":base64:aGk=");
      await keyv.set("by-keyv", ":theirs");
      expect((await store.get(["by-keyv"]))[0]?.value).toBe(":theirs");
    });

    it("shares nothing with other stores and adapters of this process: each may end without the others", async () => {
      const store = await openHere();
      const second = await openHere({}, place.setting);
      const theirs = adapter(server.url);
      await new Keyv({ store: theirs, namespace: "t-theirs" }).get("anything");
      await put(store, "a", "1");
      await second.close();
      await theirs.disconnect();
      await put(store, "b", "2");
      expect(await contents(store)).toEqual({ a: "1", b: "2" });
    });

    it("that cannot be reached when it is opened is a typed error, and leaves no connection", async () => {
      proxy.set("refuse");
      await expect(openHere()).rejects.toEqual(refused("STORE_UNAVAILABLE", /cannot be reached/));
      const nobody = place.setting.replace(/@?[\w.]+:\d+/, "@127.0.0.1:1");
      await expect(openHere({}, nobody)).rejects.toEqual(refused("STORE_UNAVAILABLE", /ECONNREFUSED/));
      const nowhere = place.setting.replace(/@?[\w.]+:\d+/, "@nowhere.invalid:1");
      await expect(openHere({}, nowhere)).rejects.toEqual(refused("STORE_UNAVAILABLE", /nowhere\.invalid/));
    });

    it("that says nothing when it is opened is a typed error after a while", async () => {
      proxy.set("freeze");
      await expect(openHere()).rejects.toEqual(refused("STORE_UNAVAILABLE"));
    });

    it("that goes away and comes back fails what is asked meanwhile, typed and at once, and then goes on", async () => {
      const store = await openHere();
      await write(store, { key: "a", put: { a: "1", b: "1" } });
      const [a] = await store.get(["a"]);
      proxy.set("refuse");
      await pause(30);
      const before = Date.now();
      const asked = await Promise.allSettled([
        store.get(["a"]),
        store.keys(""),
        write(store, { key: "a", was: a?.version, put: { a: "2", b: "2" } }),
        write(store, { key: "other", put: { row: "x" } }),
      ]);
      expect(asked.map((each) => (each as PromiseRejectedResult).reason)).toEqual(
        asked.map(() => refused("STORE_UNAVAILABLE", /cannot be reached/)),
      );
      expect(Date.now() - before).toBeLessThan(timeout + 500);
      proxy.set("through");
      await back(store);
      expect(await contents(store)).toEqual({ a: "1", b: "1" });
      expect(await write(store, { key: "a", was: a?.version, put: { a: "2", b: "2" } })).toBe(true);
      expect(await contents(store)).toEqual({ a: "2", b: "2" });
    });

    it("that freezes in mid-turn is a typed error after a while, not a wait for ever", async () => {
      const store = await openHere();
      await put(store, "a", "1");
      proxy.set("freeze");
      const before = Date.now();
      const asked = await Promise.allSettled([store.get(["a"]), store.keys(""), put(store, "b", "2")]);
      expect(asked.map((each) => (each as PromiseRejectedResult).reason)).toEqual(
        asked.map(() => refused("STORE_UNAVAILABLE")),
      );
      expect(Date.now() - before).toBeLessThan(10 * timeout);
      proxy.set("refuse");
      proxy.set("through");
      await back(store);
      expect((await store.get(["a"]))[0]?.value).toBe("1");
    });

    it("whose answer to a commit is lost has made all of it or nothing", async () => {
      const store = await openHere();
      await write(store, { key: "a", put: { a: "0", b: "0", c: "0" } });
      for (let round = 1; round <= 8; round++) {
        const [a] = await store.get(["a"]);
        proxy.onAnswer = () => proxy.set("refuse");
        const rows = { a: `${round}`, b: `${round}`, c: `${round}` };
        await write(store, { key: "a", was: a?.version, put: rows }).catch((error) =>
          expect(error).toEqual(refused("STORE_UNAVAILABLE")),
        );
        proxy.onAnswer = undefined;
        proxy.set("through");
        await back(store);
        const values = Object.values(await contents(store));
        expect([`${round}`, `${round - 1}`].map((value) => Array(3).fill(value))).toContainEqual(values);
        if (values[0] !== `${round}`) await write(store, { key: "a", was: a?.version, put: rows });
      }
    });

    it("closes although the server is gone, or says nothing", async () => {
      const gone = await openHere();
      proxy.set("refuse");
      await pause(30);
      await gone.close();
      proxy.set("through");
      const silent = await openHere();
      proxy.set("freeze");
      await silent.close();
    });

    it("shows its password nowhere", async () => {
      const withPassword = setting.replace(/\/\/[^@/]*?@?(?=127)/, "//somebody:hidden-word@");
      const error = await openHere({}, withPassword).then(
        (store) => store.description,
        (reason) => JSON.stringify({ ...reason, message: reason.message, stack: reason.stack, cause: reason.cause }),
      );
      expect(error).not.toContain("hidden-word");
      expect(error).toContain(`${name} at 127.0.0.1:${proxy.port}`);
      expect(log.text()).not.toContain("hidden-word");
    });
  });
}
