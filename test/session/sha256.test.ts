import { expect, it } from "vitest";
import { sha256 } from "../../src/session/sha256.ts";

it("A text's hash is the same each time, and another for texts that UTF-8 could not tell apart", () => {
  expect(sha256("abc")).toMatch(/^[0-9a-f]{64}$/);
  expect(sha256("abc")).toBe(sha256("abc"));
  expect(sha256("\ud800")).not.toBe(sha256("\udfff"));
});
