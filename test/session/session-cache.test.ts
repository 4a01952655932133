import { describe, expect, it } from "vitest";
import { newControl } from "../../src/session/control.ts";
import { SessionCache } from "../../src/session/session-cache.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { StoredEvent } from "../../src/session/stored-events.ts";

const control = (bytes: number) => ({ control: newControl("r"), version: "v", bytes });
const window = (...bytes: number[]) => ({
  revision: "r",
  from: 0,
  events: bytes.map((each, seq) => ({ event: { seq } as SessionEvent, bytes: each, large: [] })),
  maxBytes: 0,
});

describe("What is remembered of sessions", () => {
  it("is no more than so many bytes; what was used last stays", () => {
    const cache = new SessionCache(100);
    cache.keepControl("a", control(10));
    cache.keepWindow("a", window(20, 10));
    cache.keepControl("b", control(40));
    expect(cache.control("a")).toBeDefined();
    cache.keepControl("c", control(30));
    expect(["a", "b", "c"].map((id) => cache.control(id)?.bytes)).toEqual([10, undefined, 30]);
    expect(cache.window("a", "r")).toEqual({ ...window(20, 10), kept: 2 });
    cache.keepWindow("c", window(69));
    expect(["a", "b", "c"].map((id) => cache.control(id)?.bytes)).toEqual([undefined, undefined, 30]);
  });

  it("counts what takes another's place once", () => {
    const cache = new SessionCache(100);
    for (let round = 0; round < 10; round++) {
      cache.keepControl("a", control(40));
      cache.keepWindow("a", window(60));
    }
    expect(cache.window("a", "r")).toBeDefined();
    cache.keepControl("a", undefined);
    cache.keepControl("b", control(40));
    expect(cache.window("a", "r")).toBeDefined();
    cache.forget("a");
    cache.forget("a");
    cache.keepControl("c", control(60));
    expect(cache.control("b")).toBeDefined();
  });

  it("counts what is put behind a window", () => {
    const cache = new SessionCache(100);
    cache.keepWindow("a", window(30));
    cache.append("a", window(30).events);
    expect(cache.window("a", "r")?.events).toHaveLength(2);
    cache.keepControl("b", control(40));
    expect(cache.window("a", "r")).toBeDefined();
    cache.keepControl("b", control(41));
    expect(cache.window("a", "r")).toBeUndefined();
    cache.append("a", window(1).events);
    expect(cache.window("a", "r")).toBeUndefined();
  });

  it("grows by any number at once", () => {
    const cache = new SessionCache(1_000_000);
    cache.keepWindow("a", window(1));
    const [one] = window(1).events;
    cache.append(
      "a",
      Array.from({ length: 200_000 }, () => one as StoredEvent),
    );
    expect(cache.window("a", "r")?.events).toHaveLength(200_001);
  });

  it("is nothing if it alone is too much", () => {
    const cache = new SessionCache(100);
    cache.keepWindow("a", window(101));
    expect(cache.window("a", "r")).toBeUndefined();
    expect(new SessionCache(0).control("a")).toBeUndefined();
  });

  it("are events of one revision", () => {
    const cache = new SessionCache(100);
    cache.keepWindow("a", window(1));
    expect(cache.window("a", "another")).toBeUndefined();
    expect(cache.window("a", "r")).toBeDefined();
  });
});
