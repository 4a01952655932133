import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAlive, Owners } from "../../src/session/owners.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { contents, put } from "../support/store-contract.ts";

describe("The owner of a run", () => {
  let store: Store;
  const record = (fields: object) =>
    JSON.stringify({ format: 1, host: hostname(), pid: process.pid, start: 0, ...fields });

  beforeEach(() => {
    store = openMemoryStore();
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

  it("with a record that cannot be read is an error, never gone", async () => {
    for (const damaged of [record({ pid: "5" }), record({ host: 5 }), record({ start: "then" }), "{"]) {
      await put(store, "owner/damaged", damaged);
      await expect(new Owners(store, "mine").isGone("damaged")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    }
  });
});
