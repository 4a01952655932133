import { expect, it } from "vitest";
import { atMost, count, list, name, object, oneOf, optional, text } from "../../src/session/shape.ts";

const shape = object({ id: name, note: optional(text), kind: oneOf("a", "b"), inner: list(object({ n: count })) });
const whole = { id: "1", kind: "a", inner: [{ n: 0 }, { n: 1 }] };

it("A shape finds nothing wrong with what has it, whatever else there is", () => {
  for (const right of [whole, { ...whole, note: "" }, { ...whole, inner: [] }, { ...whole, later: true }]) {
    expect(shape(right)).toBeUndefined();
  }
});

it("A shape gives the path of the first thing that is otherwise", () => {
  const wrong: [unknown, string][] = [
    [null, ""],
    [[], ""],
    ["text", ""],
    [undefined, ""],
    [{ ...whole, id: "" }, ".id"],
    [{ ...whole, note: null }, ".note"],
    [{ ...whole, kind: "c" }, ".kind"],
    [{ ...whole, inner: { length: 0 } }, ".inner"],
    [{ ...whole, inner: [{ n: 0 }, { n: -1 }] }, ".inner[1].n"],
    [{ ...whole, inner: [{ n: 0 }, 5] }, ".inner[1]"],
    [{ ...whole, inner: [{ n: 0.5 }] }, ".inner[0].n"],
    [{ ...whole, id: 5, note: 5 }, ".id"],
  ];
  for (const [value, path] of wrong) expect(shape(value)).toBe(path);
});

it("A shape bounds a text and a list, what is inside comes first", () => {
  const bounded = atMost(2, list(atMost(3, name)));
  expect(bounded(["abc", "d"])).toBeUndefined();
  expect(bounded(["a", "b", "c"])).toBe("");
  expect(bounded(["a", "abcd"])).toBe("[1]");
  expect(bounded(["a", "b", ""])).toBe("[2]");
  expect(bounded("ab")).toBe("");
});
