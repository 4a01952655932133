import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { within } from "../src/within.ts";

const never = new Promise<never>(() => {});

describe("Waiting for some time", () => {
  it("tells whether the work was done by then", async () => {
    expect(await within(10_000, pause(1))).toBe(true);
    expect(await within(1, never)).toBe(false);
    expect(await within(1, never, { holds: false })).toBe(false);
  });

  it("fails as the work does, and not if that fails too late", async () => {
    await expect(within(10_000, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    const late = pause(20).then(() => Promise.reject(new Error("too late")));
    expect(await within(1, late)).toBe(false);
    await expect(late).rejects.toThrow("too late");
  });
});
