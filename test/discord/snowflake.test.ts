import { SnowflakeUtil } from "discord.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareIds, firstIdAt, isSnowflake } from "../../src/discord/snowflake.ts";

const ids = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);

describe("ids", () => {
  it("are in the order of their numbers", () => {
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        const difference = BigInt(one) - BigInt(other);
        expect(Math.sign(compareIds(one, other))).toBe(difference === 0n ? 0 : difference < 0n ? -1 : 1);
      }),
    );
  });

  it("of a moment are not below the first one at it, and those of the millisecond before are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_420_070_400_001, max: 4_000_000_000_000 }), (ms) => {
        const made = (at: number) => SnowflakeUtil.generate({ timestamp: at, workerId: 31n }).toString();
        expect(compareIds(made(ms), firstIdAt(ms))).toBeGreaterThanOrEqual(0);
        expect(compareIds(made(ms - 1), firstIdAt(ms))).toBeLessThan(0);
      }),
    );
  });

  it("begin with Discord", () => {
    expect(firstIdAt(0)).toBe("0");
    expect(firstIdAt(1_420_070_400_000)).toBe("0");
  });

  it.each([
    ["175928847299117063", true],
    ["m1", false],
    ["123", false],
    ["", false],
    ["275928847299117063123", false],
  ])("%j: %s", (id, is) => {
    expect(isSnowflake(id)).toBe(is);
  });
});
