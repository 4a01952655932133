import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goneMessages } from "../../src/discord/gone-messages.ts";
import { compareIds } from "../../src/discord/snowflake.ts";

const id = (number: number) => String(600_000_000_000_000_000n + BigInt(number));
const channel = id(100);

describe("what is gone from a conversation's last page", () => {
  it("is what lies between the messages that are there, or behind them", () => {
    const known = [id(109), id(105), id(104), id(101)];
    expect(goneMessages(known, { channel, ids: [id(107), id(105), id(103)], isWhole: false })).toEqual([
      id(109),
      id(104),
    ]);
  });

  it("is also what lies before them, if there is nothing older", () => {
    expect(goneMessages([id(102), id(101)], { channel, ids: [id(103)], isWhole: true })).toEqual([id(102), id(101)]);
  });

  it("is never the thread's starter, nor what stands in the channel above the thread", () => {
    const elsewhere = [channel, id(99), id(1)];
    expect(goneMessages(elsewhere, { channel, ids: [id(103)], isWhole: true })).toEqual([]);
    expect(goneMessages(elsewhere, { channel, ids: [id(98), id(103)], isWhole: false })).toEqual([]);
  });

  it("is nothing when nothing can be read: so a history looks that may not be read", () => {
    expect(goneMessages([id(101)], { channel, ids: [], isWhole: true })).toEqual([]);
  });

  it("is never what was not said on Discord", () => {
    expect(goneMessages(["m1", "k2j5h3k2j5h3"], { channel, ids: [id(103)], isWhole: true })).toEqual([]);
  });

  it("is never on the page, and always among what was known", () => {
    const some = fc.array(fc.integer({ min: 0, max: 200 }).map(id), { maxLength: 30 });
    fc.assert(
      fc.property(some, some, fc.boolean(), (known, ids, isWhole) => {
        for (const gone of goneMessages(known, { channel, ids, isWhole })) {
          expect(ids).not.toContain(gone);
          expect(known).toContain(gone);
          expect(compareIds(gone, channel)).toBeGreaterThan(0);
        }
      }),
    );
  });
});
