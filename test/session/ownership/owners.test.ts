import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLogger } from "../../../src/log.ts";
import { formatOwner, type OwnerRecord, thisProcess } from "../../../src/session/ownership/owner-record.ts";
import { Owners } from "../../../src/session/ownership/owners.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { FaultyStore } from "../../support/faulty-store.ts";
import { contents, put } from "../../support/store-contract.ts";

describe("Another owner", () => {
  let map: Map<string, string>;
  let store: Store;
  let now: number;
  let lines: string[];
  let owners: Owners;
  const beats = (name: string, beat: number, fields: Partial<OwnerRecord> = {}) =>
    put(store, `owner/${name}`, formatOwner({ ...thisProcess, host: "elsewhere", takeOverMs: 1_000, beat, ...fields }));

  beforeEach(() => {
    map = new Map();
    store = openMemoryStore(map);
    now = 5_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    lines = [];
    const log = createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
    owners = new Owners({ store, takeOverMs: 700, log });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
  });

  it("is gone if it has no record", async () => {
    expect(await owners.isGone("other")).toBe(true);
  });

  it("is there while its record moves, however seldom anybody looks", async () => {
    for (let beat = 0; beat < 5; beat++) {
      await beats("other", beat);
      expect(await owners.isGone("other")).toBe(false);
      now += 10_000;
    }
  });

  it("is gone once its record has stood still for the take-over time since it was first seen", async () => {
    await beats("other", 0);
    expect(await owners.isGone("other")).toBe(false);
    now += 999;
    expect(await owners.isGone("other")).toBe(false);
    now += 1;
    expect(await owners.isGone("other")).toBe(true);
    expect(await contents(store)).toEqual({});
    expect(lines.join()).toContain("gone without a goodbye");
  });

  it("is there for as long as it said that it may be silent, whatever this process is set to", async () => {
    await beats("patient", 0, { takeOverMs: 60_000 });
    await put(store, "owner/odd", JSON.stringify({ format: 1, takeOverMs: "long" }));
    await owners.look();
    now += 59_999;
    expect(await owners.isGone("patient")).toBe(false);
    expect(await owners.isGone("odd")).toBe(true);
    now += 1;
    expect(await owners.isGone("patient")).toBe(true);
  });

  it("is looked at with all others, so that its time runs from then on", async () => {
    await beats("still", 0);
    await beats("moving", 0);
    await owners.look();
    now += 1_000;
    await beats("moving", 1);
    await beats("new", 0);
    await owners.look();
    expect(await store.keys("owner/")).toEqual(["owner/moving", "owner/new"]);
    await store.commit({
      key: "owner/new",
      was: (await store.get(["owner/new"]))[0]?.version,
      put: new Map(),
      remove: ["owner/new"],
    });
    await owners.look();
    now += 1_000;
    // It is another one of that name, and gets the whole time.
    await beats("new", 0);
    expect(await owners.isGone("new")).toBe(false);
  });

  it("gets the whole time anew if this process itself could not look", async () => {
    await beats("other", 0);
    await owners.look();
    now += 5_000;
    owners.forgetSights();
    expect(await owners.isGone("other")).toBe(false);
    now += 1_000;
    expect(await owners.isGone("other")).toBe(true);
  });

  it("is gone at once if its process on this machine died", async () => {
    await beats("dead", 0, { host: thisProcess.host, pid: spawnSync("true").pid });
    await beats("here", 0, { host: thisProcess.host });
    await owners.look();
    expect(await store.keys("owner/")).toEqual(["owner/here"]);
  });

  it("is there if it beat just as its key was to be removed", async () => {
    await beats("other", 0);
    await owners.look();
    now += 1_000;
    const { get } = store;
    vi.spyOn(store, "get").mockImplementationOnce(async (keys) => {
      const read = await get.call(store, keys);
      await beats("other", 1);
      return read;
    });
    expect(await owners.isGone("other")).toBe(false);
    expect(await store.keys("owner/")).toEqual(["owner/other"]);
  });

  it("with a record that cannot be read is there while that moves, which the log says once", async () => {
    const damages = [
      () => put(store, "owner/odd", "{"),
      () => put(store, "owner/odd", JSON.stringify({ format: 99 })),
      async () => map.set("keyv:owner/odd", "garbage"),
    ];
    for (const damage of damages) {
      await damage();
      expect(await owners.isGone("odd")).toBe(false);
      now += 650;
    }
    expect(lines.filter((line) => line.includes("odd"))).toHaveLength(1);
    now += 50;
    expect(await owners.isGone("odd")).toBe(true);
    expect(await store.keys("")).toEqual([]);
  });

  it("in a store that fails is an error, neither gone nor there", async () => {
    const faulty = Object.assign(new FaultyStore(store), { failAt: 1 });
    await expect(new Owners({ store: faulty, takeOverMs: 1 }).isGone("other")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });
});
