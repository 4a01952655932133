import { SnowflakeUtil } from "discord.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareIds, positionOf, Snowflakes } from "../../../src/sandbox/world/snowflake.ts";

describe("snowflakes", () => {
  it("only ever grow, also within a millisecond and after an id from the future", () => {
    const ids = new Snowflakes();
    const made = Array.from({ length: 1_000 }, () => ids.next());
    expect(made.toSorted(compareIds)).toEqual(made);
    expect(new Set(made).size).toBe(1_000);
    const last = String(BigInt(made.at(-1) ?? 0) + 10n ** 15n);
    expect(compareIds(new Snowflakes(last).next(), last)).toBeGreaterThan(0);
  });

  it("hold when they were made, as discord.js reads them", () => {
    const before = Date.now();
    const made = SnowflakeUtil.timestampFrom(new Snowflakes().next());
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now());
  });

  it("compare as the numbers that they are", () => {
    const id = fc.bigInt(0n, 2n ** 64n - 1n);
    fc.assert(
      fc.property(id, id, (first, second) => {
        expect(Math.sign(compareIds(String(first), String(second)))).toBe(first < second ? -1 : first > second ? 1 : 0);
      }),
    );
  });

  it("are found in a list that ascends, and nothing else is", () => {
    const ids = fc.uniqueArray(fc.bigInt(0n, 2n ** 64n - 1n), { minLength: 1 });
    fc.assert(
      fc.property(ids, fc.nat(), (numbers, choice) => {
        const list = numbers.toSorted((first, second) => (first < second ? -1 : 1)).map((id) => ({ id: String(id) }));
        const wanted = list[choice % list.length]?.id ?? "";
        expect(list[positionOf(list, wanted)]?.id).toBe(wanted);
        const others = list.filter(({ id }) => id !== wanted);
        expect(positionOf(others, wanted)).toBe(-1);
      }),
    );
  });
});
