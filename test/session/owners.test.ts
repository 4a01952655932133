import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLogger } from "../../src/log.ts";
import { isAlive, Owners } from "../../src/session/owners.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { contents, put } from "../support/store-contract.ts";

describe("The owner of a run", () => {
  let map: Map<string, string>;
  let store: Store;
  const record = (fields: object) =>
    JSON.stringify({ format: 1, host: hostname(), pid: process.pid, start: 0, ...fields });

  beforeEach(() => {
    map = new Map();
    store = openMemoryStore(map);
  });
  afterEach(() => store.close());

  it("is there from its arrival to its goodbye", async () => {
    const [mine, other] = [new Owners(store, "mine"), new Owners(store, "other")];
    expect(await other.isGone("mine")).toBe(true);
    await mine.arrive();
    expect(await other.isGone("mine")).toBe(false);
    expect(await mine.isGone("mine")).toBe(false);
    await mine.leave();
    expect(await other.isGone("mine")).toBe(true);
    await mine.leave();
    expect(await contents(store)).toEqual({});
  });

  it("has a name that nobody else may take", async () => {
    await new Owners(store, "mine").arrive();
    await expect(new Owners(store, "mine").arrive()).rejects.toThrow("in use");
  });

  it("is gone if its process on this machine died, and its key is cleared away", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    await put(store, "owner/dead", record({ pid: child.pid }));
    expect(await new Owners(store, "mine").isGone("dead")).toBe(true);
    expect(await contents(store)).toEqual({});
  });

  it("is there if its process on this machine lives", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await put(store, "owner/alive", record({ pid: child.pid }));
    expect(await new Owners(store, "mine").isGone("alive")).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await new Owners(store, "mine").isGone("alive")).toBe(true);
  });

  it("is gone if this process has the number that it had: a restarted container", async () => {
    await put(store, "owner/before", record({ start: -5_000_000 }));
    expect(await new Owners(store, "mine").isGone("before")).toBe(true);
  });

  it("is there if it is on another machine, of which nothing is known", async () => {
    await put(store, "owner/elsewhere", record({ host: "elsewhere", pid: 999_999_999 }));
    expect(await new Owners(store, "mine").isGone("elsewhere")).toBe(false);
  });

  it("is there if its process is somebody else's", () => {
    const kill = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    const here = { host: "here", pid: 1, start: 0 };
    expect(isAlive({ ...here, pid: 2 }, here)).toBe(true);
    kill.mockRestore();
  });

  it("with a record that cannot be read counts as there, which the log says", async () => {
    const written = [record({ pid: "5" }), record({ host: 5 }), record({ start: "then" }), "{", record({ format: 99 })];
    const damages = [
      ...written.map((text) => () => put(store, "owner/odd", text)),
      async () => map.set("keyv:owner/odd", "garbage"),
    ];
    for (const damage of damages) {
      await damage();
      const lines: string[] = [];
      const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });
      expect(await new Owners(store, "mine", log).isGone("odd")).toBe(false);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("owner/odd");
      expect(await store.keys("owner/")).toEqual(["owner/odd"]);
    }
  });

  it("in a store that fails is an error, neither gone nor there", async () => {
    const faulty = Object.assign(new FaultyStore(store), { failAt: 1 });
    await expect(new Owners(faulty, "mine").isGone("other")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("can say goodbye even if its record was damaged meanwhile", async () => {
    const mine = new Owners(store, "mine");
    await mine.arrive();
    map.set("keyv:owner/mine", "garbage");
    await mine.leave();
    expect(await store.keys("")).toEqual([]);
  });
});
