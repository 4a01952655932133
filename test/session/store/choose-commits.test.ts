import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseCommits } from "../../../src/session/store/choose-commits.ts";
import type { Commit } from "../../../src/session/store/store.ts";

const key = fc.constantFrom(..."abcdefghij");
const commit: fc.Arbitrary<Commit> = fc
  .record({
    key,
    rows: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
    remove: fc.option(fc.uniqueArray(key, { maxLength: 2 }), { nil: undefined }),
  })
  .map(({ key, rows, remove }) => ({
    key,
    was: undefined,
    put: new Map(rows.map((row) => [row, "x"])),
    ...(remove && { remove }),
  }));
const keysOf = ({ key, put, remove = [] }: Commit): Set<string> => new Set([key, ...put.keys(), ...remove]);
const plain = (index: number, value = "x"): Commit => ({
  key: `k${index}`,
  was: undefined,
  put: new Map([[`k${index}`, value]]),
});

describe("Commits that share a statement", () => {
  it("touch no key in common; the first that waits is among them, and whatever is left out is in the way of one", () => {
    fc.assert(
      fc.property(fc.array(commit, { minLength: 1, maxLength: 80 }), (waiting) => {
        const chosen = chooseCommits(waiting);
        expect(chosen[0]).toBe(waiting[0]);
        const taken = chosen.flatMap((each) => [...keysOf(each)]);
        expect(new Set(taken).size).toBe(taken.length);
        for (const each of waiting) {
          if (!chosen.includes(each)) expect([...keysOf(each)].some((one) => taken.includes(one))).toBe(true);
        }
      }),
    );
  });

  it("are 64 at most", () => {
    expect(chooseCommits(Array.from({ length: 100 }, (_, index) => plain(index)))).toHaveLength(64);
  });

  it("are not larger together than one statement should be; one that is too large goes alone", () => {
    const large = "x".repeat(5_000_000);
    expect(chooseCommits([plain(0, large), plain(1, large), plain(2)]).map((each) => each.key)).toEqual(["k0", "k2"]);
    expect(chooseCommits([plain(0, large.repeat(2)), plain(1)]).map((each) => each.key)).toEqual(["k0"]);
    const remove = Array.from({ length: 100_000 }, (_, index) => `r${index}`.padEnd(100, "r"));
    expect(chooseCommits([{ ...plain(0), remove }, plain(1)]).map((each) => each.key)).toEqual(["k0"]);
    const guarded = { ...plain(0), was: large };
    expect(chooseCommits([guarded, plain(1, large), plain(2)]).map((each) => each.key)).toEqual(["k0", "k2"]);
  });
});
