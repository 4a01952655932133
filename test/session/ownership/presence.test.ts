import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLogger } from "../../../src/log.ts";
import { Presence } from "../../../src/session/ownership/presence.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { CutStore } from "../../support/cut-store.ts";
import { contents, put } from "../../support/store-contract.ts";

/** The take-over time is 1,000 ms: a beat every 250, silence after 750. */
describe("A process", () => {
  let map: Map<string, string>;
  let inner: Store;
  let store: CutStore;
  let lost: number;
  let beats: number;
  let isListening: boolean;
  let lines: string[];
  let presence: Presence;
  const newPresence = (ownerId: string, at: Store = store) =>
    new Presence({
      store: at,
      ownerId,
      takeOverMs: 1_000,
      isListening: () => isListening,
      onLost: () => void lost++,
      onBeat: () => void beats++,
      log: createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } }),
    });
  const remove = async (key: string) => {
    const [stored] = await inner.get([key]);
    await inner.commit({ key, was: stored?.version, put: new Map(), remove: [key] });
  };
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
    vi.setSystemTime(new Date("2026-01-01T00:00:00.000Z"));
    map = new Map();
    inner = openMemoryStore(map);
    store = new CutStore(inner);
    [lost, beats, isListening, lines] = [0, 0, true, []];
    presence = newPresence("mine");
    await presence.arrive();
  });
  afterEach(async () => {
    store.isCut = false;
    store.isDeaf = false;
    await presence.leave();
    vi.useRealTimers();
  });

  it("is there from its arrival to its goodbye, and beats every quarter of the take-over time", async () => {
    const recordAt = async () => (await contents(inner))["owner/mine"];
    expect(JSON.parse((await recordAt()) as string)).toMatchObject({ pid: process.pid, beat: 0 });
    await pass(1_000);
    expect(beats).toBe(4);
    expect(JSON.parse((await recordAt()) as string)).toMatchObject({ beat: 4 });
    expect(presence.isSure()).toBe(true);
    await presence.leave();
    expect(await inner.keys("owner/")).toEqual([]);
    expect(presence.isSure()).toBe(false);
    await presence.leave();
    await pass(5_000);
    expect(beats).toBe(4);
    expect(await inner.keys("owner/")).toEqual([]);
    expect(lost).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has a name that nobody else may take", async () => {
    const second = newPresence("mine");
    await expect(second.arrive()).rejects.toThrow("in use");
  });

  it("notes when it was last there, while it listens, and the next process reads it before it arrives", async () => {
    expect(presence.lastBeat).toBeUndefined();
    await pass(600);
    isListening = false;
    await pass(600);
    const next = newPresence("next");
    await next.arrive();
    expect(next.lastBeat).toEqual(new Date("2026-01-01T00:00:00.500Z"));
    isListening = true;
    await pass(300);
    expect(next.lastBeat).toEqual(new Date("2026-01-01T00:00:00.500Z"));
    await next.leave();
    // Some who stop have not listened for their last seconds.
    expect(JSON.parse((await contents(inner))["alive/last"] as string).at).toBe("2026-01-01T00:00:01.500Z");
  });

  it("that is the first and dies before it has ever listened was there from its arrival on", async () => {
    const empty = openMemoryStore();
    isListening = false;
    const first = newPresence("first", empty);
    await first.arrive();
    await pass(200);
    const next = newPresence("next", empty);
    await next.arrive();
    expect(first.lastBeat).toBeUndefined();
    expect(next.lastBeat).toEqual(new Date("2026-01-01T00:00:00.000Z"));
    await pass(200);
    const last = newPresence("last", empty);
    await last.arrive();
    expect(last.lastBeat).toEqual(new Date("2026-01-01T00:00:00.000Z"));
    for (const each of [first, next, last]) await each.leave();
  });

  it("that cannot read when one was last there takes it for unknown, and the log says so", async () => {
    for (const damage of ["{", JSON.stringify({ format: 1, at: "then" }), JSON.stringify({ format: 1 })]) {
      await put(inner, "alive/last", damage);
      const next = newPresence(`next${damage.length}`);
      await next.arrive();
      expect(next.lastBeat).toBeUndefined();
      await next.leave();
    }
    expect(lines.join()).toContain("cannot be read");
  });

  it("whose beats fail is sure for three quarters of the time, counted from the last one's sending", async () => {
    await pass(250);
    store.isCut = true;
    await pass(749);
    expect([presence.isSure(), lost]).toEqual([true, 0]);
    await pass(2);
    expect(lost).toBe(1);
    expect(presence.isSure()).toBe(false);
    await pass(5_000);
    expect(lost).toBe(1);
    expect(lines.filter((line) => line.includes("a beat failed"))).toHaveLength(1);
  });

  it("is sure again when the store is back, under its name if that is still there", async () => {
    store.isCut = true;
    await pass(2_000);
    store.isCut = false;
    await pass(250);
    expect(presence.isSure()).toBe(true);
    expect(presence.ownerId).toBe("mine");
    expect(lost).toBe(1);
    store.isCut = true;
    await pass(2_000);
    expect(lost).toBe(2);
    expect(lines.filter((line) => line.includes("confirmed again"))).toHaveLength(1);
  });

  it("whose key was removed meanwhile arrives under another name", async () => {
    store.isCut = true;
    await pass(2_000);
    await remove("owner/mine");
    store.isCut = false;
    await pass(250);
    expect(presence.isSure()).toBe(true);
    expect(presence.ownerId).not.toBe("mine");
    expect(await inner.keys("owner/")).toEqual([`owner/${presence.ownerId}`]);
    expect(lost).toBe(1);
    await pass(1_000);
    expect(lost).toBe(1);
  });

  it("whose key was removed although it beats has lost what was its own, too", async () => {
    await remove("owner/mine");
    await pass(250);
    expect(lost).toBe(1);
    expect(presence.ownerId).not.toBe("mine");
    expect(presence.isSure()).toBe(true);
  });

  it("that arrives under another name, without being told so, finds its key there", async () => {
    await remove("owner/mine");
    store.isDeaf = true;
    await pass(250);
    store.isDeaf = false;
    const [key] = await inner.keys("owner/");
    await pass(250);
    expect(await inner.keys("owner/")).toEqual([key]);
    expect(key).toBe(`owner/${presence.ownerId}`);
    expect(presence.isSure()).toBe(true);
  });

  it("whose record was damaged, or written without a word, beats on", async () => {
    map.set("keyv:owner/mine", "garbage");
    await pass(250);
    expect(JSON.parse((await contents(inner))["owner/mine"] as string)).toMatchObject({ pid: process.pid });
    store.isDeaf = true;
    await pass(250);
    store.isDeaf = false;
    await pass(250);
    expect([lost, presence.ownerId, presence.isSure()]).toEqual([0, "mine", true]);
  });

  it("that slept finds out at the first question, before any beat, and only once", async () => {
    await pass(250);
    // All timers are late.
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
    expect(presence.isSure()).toBe(false);
    expect(presence.isSure()).toBe(false);
    expect(lost).toBe(1);
    clock.mockRestore();
  });

  it("on a machine that slept, so that no time has passed on its own clock, finds out by the other one", async () => {
    await pass(250);
    vi.setSystemTime(Date.now() + 60_000);
    expect(presence.isSure()).toBe(false);
    expect(lost).toBe(1);
    await pass(250);
    expect(presence.isSure()).toBe(true);
    // One that is set back says nothing.
    vi.setSystemTime(Date.now() - 600_000);
    expect(presence.isSure()).toBe(true);
    await pass(1_000);
    expect([lost, presence.isSure()]).toEqual([1, true]);
  });

  it("that slept during a beat does not take its late confirmation for a sign of life", async () => {
    const { commit } = inner;
    const now = performance.now();
    vi.spyOn(inner, "commit").mockImplementationOnce(async (change) => {
      const done = await commit.call(inner, change);
      vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
      return done;
    });
    await pass(250);
    expect(lost).toBe(1);
    expect(presence.isSure()).toBe(false);
    vi.mocked(performance.now).mockRestore();
  });

  it("never beats twice at once, however long the store takes, and who wants to be sure waits for it", async () => {
    let underWay = 0;
    let most = 0;
    const { commit } = inner;
    const slow = vi.spyOn(inner, "commit").mockImplementation(async (change) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 1_600));
      underWay--;
      return commit.call(inner, change);
    });
    await pass(1_700);
    expect(lost).toBe(1);
    slow.mockRestore();
    const sure = presence.makeSure();
    await pass(1_700);
    await sure;
    expect(most).toBe(1);
    expect(presence.isSure()).toBe(true);
    await presence.makeSure();
  });

  it("cannot be sure in a store that is down, or that takes too long to say", async () => {
    store.isCut = true;
    await pass(1_000);
    await expect(presence.makeSure()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    store.isCut = false;
    const { commit } = inner;
    const slow = vi.spyOn(inner, "commit").mockImplementation(async (change) => {
      await new Promise((resolve) => setTimeout(resolve, 800));
      return commit.call(inner, change);
    });
    const sure = expect(presence.makeSure()).rejects.toMatchObject({ code: "STORE_BUSY" });
    await pass(3_000);
    await sure;
    slow.mockRestore();
    await pass(1_000);
  });

  it("holds up nobody's end: no timer keeps the process", () => {
    vi.useRealTimers();
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const real = newPresence("real");
    return real.arrive().then(async () => {
      expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBe(before);
      await real.leave();
    });
  });

  it("can say goodbye even if its record was damaged meanwhile", async () => {
    map.set("keyv:owner/mine", "garbage");
    await presence.leave();
    expect(await inner.keys("owner/")).toEqual([]);
  });
});
