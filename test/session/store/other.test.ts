import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv, type KeyvStoreAdapter } from "keyv";
import { describe, expect, it } from "vitest";
import { openKeyvStore } from "../../../src/session/store/other.ts";
import { logLines } from "../../support/log-lines.ts";
import { contents, put, type StorePlace, storeContract, write } from "../../support/store-contract.ts";

/** A real adapter that we know a better way for: here it is any other. */
async function adapterPlace(): Promise<StorePlace> {
  const directory = await mkdtemp(join(tmpdir(), "threadkeeper-adapter-"));
  const connect = () => new KeyvSqlite({ uri: `sqlite://${join(directory, "a.sqlite")}`, iterationLimit: 1000 });
  let adapter: KeyvSqlite | undefined;
  let stores = 0;
  return {
    open: async () => {
      if (!adapter) {
        adapter = connect();
        for (const setting of ["synchronous=OFF", "journal_mode=MEMORY"]) await adapter.query(`PRAGMA ${setting}`);
      }
      stores += 1;
      const store = await openKeyvStore(adapter);
      return {
        description: store.description,
        get: store.get.bind(store),
        commit: store.commit.bind(store),
        keys: store.keys.bind(store),
        close: once(async () => {
          await store.close();
          // A closed SQLite adapter can't be opened again.
          if (--stores === 0) adapter = undefined;
        }),
      };
    },
    spoil: async (key) => void (await adapter?.set(`keyv:${key}`, "garbage")),
    remove: () => rm(directory, { recursive: true }),
  };
}

function once(job: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= job();
    return done;
  };
}

storeContract("A store in another Keyv adapter", adapterPlace);

/** A small adapter, as somebody might write it: on a map, with things that go wrong. */
class Adapter extends EventEmitter {
  readonly opts: unknown = { dialect: "test", url: "" };
  namespace?: string;
  readonly map = new Map<string, unknown>();
  readonly order: string[] = [];
  disconnected = 0;
  fault: ((verb: string, key: string) => unknown) | undefined;

  async get(key: string): Promise<unknown> {
    return this.#do("get", key, () => this.map.get(key));
  }
  async set(key: string, value: unknown): Promise<unknown> {
    return this.#do("set", key, () => this.map.set(key, value) && true);
  }
  async delete(key: string): Promise<unknown> {
    return this.#do("delete", key, () => this.map.delete(key));
  }
  async clear(): Promise<void> {
    throw new Error("never");
  }
  async disconnect(): Promise<void> {
    this.disconnected += 1;
  }
  async *iterator(namespace?: string) {
    for (const [key, value] of this.map) if (key.startsWith(`${namespace}:`)) yield [key, value];
  }
  #do(verb: string, key: string, job: () => unknown): unknown {
    if (verb !== "get") this.order.push(`${verb} ${key}`);
    const instead = this.fault?.(verb, key);
    return instead === undefined ? job() : instead;
  }
}

const backing = (adapter: Adapter) => adapter as unknown as KeyvStoreAdapter;

describe("A store in another Keyv adapter", () => {
  it("says at the start what it cannot do", async () => {
    const { log, lines } = logLines();
    const store = await openKeyvStore(backing(new Adapter()), { log });
    expect(store.description).toBe("Keyv adapter Adapter");
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringContaining("no second process") }),
    );
  });

  it("without an iterator does not open, and says what is missing", async () => {
    const adapter = Object.assign(new Adapter(), { iterator: undefined });
    await expect(openKeyvStore(backing(adapter as unknown as Adapter))).rejects.toMatchObject({
      code: "STORE_SETTING_INVALID",
      message: expect.stringContaining("iterator()"),
    });
  });

  it("asks nothing of the adapter's options", async () => {
    for (const opts of [undefined, {}, { dialect: "test" }, { url: new URL("db://host") }]) {
      const store = await openKeyvStore(backing(Object.assign(new Adapter(), { opts })));
      await put(store, "a", "1");
      expect(await contents(store)).toEqual({ a: "1" });
    }
  });

  it("writes what nobody knows of first, then the guard, and removes then", async () => {
    const adapter = new Adapter();
    const store = await openKeyvStore(backing(adapter));
    await write(store, { key: "control", put: { control: "1", old: "x" } });
    const [control] = await store.get(["control"]);
    adapter.order.length = 0;
    await write(store, { key: "control", was: control?.version, put: { control: "2", event: "x" }, remove: ["old"] });
    expect(adapter.order).toEqual(["set keyv:event", "set keyv:control", "delete keyv:old"]);
    const [again] = await store.get(["control"]);
    adapter.order.length = 0;
    await write(store, { key: "control", was: again?.version, remove: ["event", "control"] });
    expect(adapter.order).toEqual(["delete keyv:control", "delete keyv:event"]);
  });

  it("fails when the adapter only reports what failed, or says no", async () => {
    const adapter = new Adapter();
    const store = await openKeyvStore(backing(adapter));
    await put(store, "a", "1");
    const failed = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("Keyv adapter Adapter failed") };
    adapter.fault = (verb) => {
      if (verb === "get") adapter.emit("error", new Error("swallowed"));
      return undefined;
    };
    await expect(store.get(["a"])).rejects.toMatchObject(failed);
    adapter.fault = (verb) => (verb === "set" ? false : undefined);
    await expect(write(store, { key: "b", put: { b: "1" } })).rejects.toMatchObject(failed);
    adapter.fault = (verb) => {
      if (verb !== "get") throw new TypeError("thrown");
      return undefined;
    };
    await expect(write(store, { key: "b", put: { b: "1" } })).rejects.toMatchObject(failed);
    await expect(put(store, "a", "2")).rejects.toMatchObject(failed);
    adapter.fault = undefined;
    expect(await contents(store)).toEqual({ a: "1" });
  });

  it("that fails halfway has not moved the guard, and lists what is there", async () => {
    const adapter = new Adapter();
    const store = await openKeyvStore(backing(adapter));
    await put(store, "control", "1");
    expect(await store.keys("")).toEqual(["control"]);
    adapter.fault = (_, key) => {
      if (key === "keyv:second") throw new Error("full");
      return undefined;
    };
    const [control] = await store.get(["control"]);
    const rows = { control: "2", first: "x", second: "x" };
    await expect(write(store, { key: "control", was: control?.version, put: rows })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    adapter.fault = undefined;
    expect(await contents(store)).toEqual({ control: "1", first: "x" });
  });

  it("does not open if the adapter does not give back what was written", async () => {
    const adapter = new Adapter();
    adapter.fault = (verb) => (verb === "get" ? null : undefined);
    await expect(openKeyvStore(backing(adapter))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("does not give back"),
    });
    expect(adapter.disconnected).toBe(1);
  });

  it("reads what an adapter has parsed by itself", async () => {
    const adapter = new Adapter();
    const store = await openKeyvStore(backing(adapter));
    adapter.map.set("keyv:a", { value: "1" });
    adapter.map.set("keyv:b", 5);
    expect(await store.get(["a", "b"])).toEqual([
      { value: "1", version: '{"value":"1"}' },
      { value: undefined, version: "5" },
    ]);
  });

  it("keeps to its namespace, and is read by a plain Keyv", async () => {
    const adapter = new Adapter();
    const store = await openKeyvStore(backing(adapter), { namespace: "mine" });
    adapter.map.set("keyv:theirs", '{"value":"x"}');
    await put(store, "a", ":1");
    expect(await store.keys("")).toEqual(["a"]);
    expect(await new Keyv({ store: backing(adapter), namespace: "mine" }).get("a")).toBe(":1");
  });

  it("ends the adapter's connection with the last store on it", async () => {
    const adapter = new Adapter();
    const [one, two] = [await openKeyvStore(backing(adapter)), await openKeyvStore(backing(adapter))];
    await one.close();
    await one.close();
    expect(adapter.disconnected).toBe(0);
    await two.close();
    expect(adapter.disconnected).toBe(1);
  });
});
