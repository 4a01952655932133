import fc from "fast-check";
import { expect, it } from "vitest";
import { SortedKeys } from "../../../src/session/store/sorted-keys.ts";

it("Sorted keys list what a sorted and filtered set would", () => {
  const key = fc.string({ unit: fc.constantFrom(..."ab/"), minLength: 1, maxLength: 3 });
  const change = fc.record({ key, add: fc.boolean() });
  const range = fc.record({
    from: fc.oneof(key, fc.constant("")),
    after: fc.oneof(key, fc.constant("")),
    limit: fc.nat(6),
  });
  fc.assert(
    fc.property(fc.array(key), fc.array(change), range, (first, changes, { from, after, limit }) => {
      const model = new Set(first);
      const sorted = new SortedKeys(first);
      for (const { key: each, add } of changes) {
        if (add) {
          model.add(each);
          sorted.add(each);
        } else {
          model.delete(each);
          sorted.delete(each);
        }
      }
      const expected = [...model].sort().filter((each) => each.startsWith(from) && each > after);
      expect(sorted.list({ from, after, end: `${from}\x7f`, limit })).toEqual(expected.slice(0, limit));
    }),
  );
});
