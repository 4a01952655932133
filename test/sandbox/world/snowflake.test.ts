import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareIds, Snowflakes, timeOf } from "../../../src/sandbox/world/snowflake.ts";

describe("snowflakes", () => {
  it("only ever grow, also within a millisecond and after an id from the future", () => {
    const ids = new Snowflakes();
    const made = Array.from({ length: 1_000 }, () => ids.next());
    expect(made.toSorted(compareIds)).toEqual(made);
    expect(new Set(made).size).toBe(1_000);
    const last = String(BigInt(made.at(-1) ?? 0) + 10n ** 15n);
    expect(compareIds(new Snowflakes(last).next(), last)).toBeGreaterThan(0);
  });

  it("hold when they were made", () => {
    const before = Date.now();
    const made = timeOf(new Snowflakes().next());
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now());
    expect(timeOf("175928847299117063")).toBe(1_462_015_105_796);
  });

  it("compare as the numbers that they are", () => {
    const id = fc.bigInt(0n, 2n ** 64n - 1n);
    fc.assert(
      fc.property(id, id, (first, second) => {
        expect(Math.sign(compareIds(String(first), String(second)))).toBe(first < second ? -1 : first > second ? 1 : 0);
      }),
    );
  });
});
