import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largeBytes, putBack, takeOut } from "../../src/session/large-values.ts";

const text = fc
  .tuple(fc.string({ unit: "binary", minLength: 1, maxLength: 8 }), fc.constantFrom(1, 1, 3, 4_000, 20_000))
  .map(([unit, times]) => unit.repeat(times));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constant("…"),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), tie("value"), { maxKeys: 4 }),
  ),
}));

describe("Large texts", () => {
  it("are taken out of any value and come back the same", () => {
    fc.assert(
      fc.property(value, (given) => {
        const before = JSON.stringify(given);
        const { value: small, large, texts } = takeOut(given);
        // Through the store and back.
        const [read, places] = JSON.parse(JSON.stringify([small, large]));
        expect(putBack(read, places, texts)).toEqual(JSON.parse(before));
        expect(JSON.stringify(given)).toBe(before);
        expect(texts.every((each, index) => Buffer.byteLength(each) === large[index]?.bytes)).toBe(true);
        expect(takeOut(small).large).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("are those over the bound, in bytes and not in characters", () => {
    const [fits, larger] = ["ü".repeat(largeBytes / 2), `${"ü".repeat(largeBytes / 2)}.`];
    expect(takeOut([fits, { a: larger }])).toEqual({
      value: [fits, { a: "…" }],
      large: [{ path: [1, "a"], bytes: largeBytes + 1 }],
      texts: [larger],
    });
  });

  it("are put only where they were taken from", () => {
    const at = (...path: (string | number)[]) => [{ path, bytes: 1 }];
    const read = { a: ["…", "b"], c: null, d: { e: "…" } };
    expect(putBack(read, at("a", 0), ["x"])).toEqual({ ...read, a: ["x", "b"] });
    for (const wrong of [
      at(),
      at("a"),
      at("a", 1),
      at("a", 2),
      at("c", 0),
      at("d", "f"),
      at("toString"),
      at("d", "e", 0),
    ])
      expect(putBack(read, wrong, ["x"])).toBeUndefined();
  });
});
