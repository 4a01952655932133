import { expect, it } from "vitest";
import { randomId } from "../../src/session/random-id.ts";

it("A random id is 12 base-36 characters, and another one each time", () => {
  const ids = Array.from({ length: 1000 }, randomId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-z]{12}$/);
  expect(new Set(ids).size).toBe(1000);
  expect(new Set(ids.join("")).size).toBe(36);
});
