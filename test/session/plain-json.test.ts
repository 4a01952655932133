import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainJson } from "../../src/session/plain-json.ts";

describe("What is plain JSON", () => {
  it("comes back from a store as it went in", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const plain = plainJson(value, "value");
        expect(JSON.parse(JSON.stringify(plain))).toStrictEqual(plain);
        expect(plain).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("is a copy, so that later changes do not reach it", () => {
    const value = { list: [{ deep: 1 }] };
    const plain = plainJson(value, "value");
    Object.assign(value.list[0] as object, { deep: 2 });
    expect(plain).toEqual({ list: [{ deep: 1 }] });
  });

  it("may have properties that are undefined, which are dropped, and objects without a prototype", () => {
    expect(plainJson({ a: undefined, b: 1 }, "value")).toStrictEqual({ b: 1 });
    expect(plainJson(Object.assign(Object.create(null), { a: 1 }), "value")).toStrictEqual({ a: 1 });
    expect(Object.is(plainJson(-0, "value"), 0)).toBe(true);
  });

  it("may have a key that is called __proto__, which stays a key", () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const plain = plainJson(value, "value");
    expect(JSON.stringify(plain)).toBe(JSON.stringify(value));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("may hold the same object twice, but not itself", () => {
    const twice = { a: 1 };
    expect(plainJson([twice, twice], "value")).toEqual([{ a: 1 }, { a: 1 }]);
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = { cycle };
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  const refused: [what: string, value: unknown, path: string, why: string][] = [
    ["undefined", [undefined], "state[0]", "undefined"],
    ["a hole", Object.assign([1], { length: 2 }), "state[1]", "undefined"],
    ["NaN", { a: { b: Number.NaN } }, "state.a.b", "NaN"],
    ["Infinity", [Number.POSITIVE_INFINITY], "state[0]", "Infinity"],
    ["a bigint", { a: 1n }, "state.a", "bigint"],
    ["a function", { a: [() => 1] }, "state.a[0]", "function"],
    ["a symbol", { a: Symbol("x") }, "state.a", "symbol"],
    ["a symbol as a key", { a: { [Symbol("x")]: 1 } }, "state.a", "a symbol key"],
    ["a date", { at: new Date(0) }, "state.at", "Date"],
    ["a map", { a: new Map() }, "state.a", "Map"],
    ["bytes", { a: new Uint8Array(2) }, "state.a", "Uint8Array"],
    ["an instance of a class", { a: new (class Thing {})() }, "state.a", "Thing"],
    [
      "an object with a nameless prototype",
      { a: Object.create(Object.create(null)) },
      "state.a",
      "an object with a prototype",
    ],
    ["a cycle", cycle, "state.self.cycle", "a cycle"],
    ["what is nested too deep", deep(300), `state${"[0]".repeat(201)}`, "nested deeper than 200"],
  ];
  for (const [what, value, path, why] of refused) {
    it(`is not ${what}, and the error names the path`, () => {
      expect(() => plainJson(value, "state")).toThrow(
        expect.objectContaining({
          code: "NOT_PLAIN_JSON",
          fields: { path, what: why },
          message: expect.stringContaining(path),
        }),
      );
    });
  }
});
