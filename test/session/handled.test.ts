import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Handled, handledLimit, nothingHandled, wasHandled, withHandled } from "../../src/session/handled.ts";

const all = (ids: readonly string[]): Handled => ids.reduce(withHandled, nothingHandled);
const snowflake = fc.bigInt({ min: 10n ** 16n, max: 2n ** 64n - 1n }).map(String);
const otherId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }),
  fc.nat().map(String),
  snowflake.map((id) => `${id}@1`),
);

describe("What was handled", () => {
  it("knows each of the last 64 ids, whatever they look like", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(snowflake, otherId), { maxLength: 100 }), (ids) => {
        const handled = all(ids);
        for (const id of ids.slice(-handledLimit)) expect(wasHandled(handled, id)).toBe(true);
        expect(handled.recent.length).toBeLessThanOrEqual(handledLimit);
      }),
    );
  });

  it("knows every snowflake that it was ever told, and takes none above all of them for known", () => {
    fc.assert(
      fc.property(fc.array(snowflake, { minLength: 1, maxLength: 150 }), (ids) => {
        const handled = all(ids);
        for (const id of ids) expect(wasHandled(handled, id)).toBe(true);
        const [highest = 0n] = ids.map(BigInt).sort((a, b) => (a < b ? 1 : -1));
        expect(wasHandled(handled, String(highest + 1n))).toBe(false);
      }),
    );
  });

  it("never takes an id that is no snowflake for known by the mark", () => {
    const handled = all(Array.from({ length: 80 }, (_, index) => String(10n ** 18n + BigInt(index))));
    expect(handled.mark).toBe(String(10n ** 18n + 15n));
    for (const id of ["1", "999999999999999", `${10n ** 17n}@1700000000`, "discord:5", "0".repeat(18), ""]) {
      expect(wasHandled(handled, id)).toBe(false);
    }
    expect(wasHandled(handled, String(10n ** 17n))).toBe(true);
  });

  it("forgets other ids that fall out, and keeps no mark for them", () => {
    const handled = all(Array.from({ length: 80 }, (_, index) => `id-${index}`));
    expect(wasHandled(handled, "id-15")).toBe(false);
    expect(wasHandled(handled, "id-16")).toBe(true);
    expect(handled).not.toHaveProperty("mark");
  });

  it("orders ids of different length as numbers", () => {
    const short = "99999999999999999";
    const long = "100000000000000000";
    const handled = all([long, ...Array.from({ length: handledLimit }, (_, index) => `id-${index}`)]);
    expect(handled.mark).toBe(long);
    expect(wasHandled(handled, short)).toBe(true);
    const lower = all([short, ...Array.from({ length: handledLimit }, (_, index) => `id-${index}`)]);
    expect(wasHandled(lower, long)).toBe(false);
  });

  it("counts an id that comes again once, as the newest", () => {
    expect(all(["a", "b", "a"]).recent).toEqual(["b", "a"]);
  });
});
