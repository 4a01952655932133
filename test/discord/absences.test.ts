import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Absences } from "../../src/discord/absences.ts";

const before = new Date("2026-11-30T00:00:00Z");
const start = new Date("2026-11-30T01:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an absence", () => {
  it("lasts from when a process was last there, for the first connection; it is looked after once", () => {
    const absences = new Absences(before);
    absences.began(0, ["g1"]);
    absences.heard(0);
    expect(absences.take(1)).toBeUndefined();
    expect(absences.take(0)).toEqual({ shard: 0, guilds: ["g1"], since: before });
    expect(absences.take(0)).toBeUndefined();
  });

  it("has no beginning if there never was a process", () => {
    const absences = new Absences(undefined);
    absences.began(0, []);
    expect(absences.take(0)?.since).toBeUndefined();
  });

  it("lasts from what was last heard on that connection, for one that begins anew", () => {
    const absences = new Absences(before);
    for (const shard of [0, 1]) {
      absences.began(shard, []);
      absences.heard(shard);
      absences.take(shard);
    }
    vi.advanceTimersByTime(60_000);
    absences.heard(1);
    vi.advanceTimersByTime(60_000);
    absences.began(0, []);
    absences.began(1, []);
    expect(absences.take(0)?.since).toEqual(start);
    expect(absences.take(1)?.since).toEqual(new Date("2026-11-30T01:01:00Z"));
  });

  it("of a server lasts from when it was out, or from when its connection was away; it is looked after once", () => {
    const absences = new Absences(before);
    expect(absences.takeGuild("g1", 0)).toBeUndefined();
    absences.isOut("g1");
    vi.advanceTimersByTime(60_000);
    absences.isOut("g1");
    absences.isOut("g2", before);
    expect(absences.takeGuild("g1", 3)).toEqual({ shard: 3, guilds: [], since: start, only: "g1" });
    expect(absences.takeGuild("g1", 3)).toBeUndefined();
    expect(absences.takeGuild("g2", 0)?.since).toBe(before);
  });

  it("that was not looked after goes on when the connection begins anew once more", () => {
    const absences = new Absences(before);
    absences.began(0, ["g1"]);
    absences.heard(0);
    absences.began(0, ["g2"]);
    expect(absences.take(0)).toEqual({ shard: 0, guilds: ["g2"], since: before });
  });

  it("that never began lasts, when the connection begins anew, from what was heard on it", () => {
    const absences = new Absences(undefined);
    absences.began(0, []);
    absences.heard(0);
    absences.began(0, []);
    expect(absences.take(0)?.since).toEqual(start);
  });
});
