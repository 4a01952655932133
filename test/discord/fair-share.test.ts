import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fairShare } from "../../src/discord/fair-share.ts";

describe("a fair share", () => {
  it("leaves to the quiet what the noisy one would take", () => {
    const noisy = Array.from({ length: 100 }, (_, index) => `noisy ${index}`);
    expect(fairShare([noisy, ["a", "b"], [], ["c"]], 6, 40)).toEqual([
      ["noisy 97", "noisy 98", "noisy 99"],
      ["a", "b"],
      [],
      ["c"],
    ]);
  });

  it("is nothing of nothing", () => {
    expect(fairShare([], 5, 5)).toEqual([]);
    expect(fairShare([["a"]], 0, 5)).toEqual([[]]);
    expect(fairShare([["a"]], -1, 5)).toEqual([[]]);
  });

  it("is bounded, of the newest, and as even as the lists allow", () => {
    const lists = fc.array(fc.array(fc.integer(), { maxLength: 30 }), { maxLength: 12 });
    fc.assert(
      fc.property(lists, fc.nat(100), fc.integer({ min: 1, max: 20 }), (all, most, mostOfOne) => {
        const shares = fairShare(all, most, mostOfOne);
        const counts = shares.map(({ length }) => length);
        const wanted = all.map(({ length }) => Math.min(length, mostOfOne));
        const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
        expect(sum(counts)).toBe(Math.min(most, sum(wanted)));
        for (const [index, share] of shares.entries()) {
          expect(share).toEqual(all[index]?.slice((all[index]?.length ?? 0) - share.length));
          // Who has less than somebody else (by more than the last round) has all that it wanted.
          if (share.length < Math.max(...counts) - 1) expect(share.length).toBe(wanted[index]);
        }
      }),
    );
  });
});
