import { describe, expect, it } from "vitest";
import { checkSessionId } from "../../src/session/session.ts";

describe("A session id", () => {
  it("is 1 to 100 of A-Z a-z 0-9 : . - _ ~", () => {
    for (const id of ["a", "discord:123456789012345678", "A.b-C_d~9", "x".repeat(100)])
      expect(checkSessionId(id)).toBe(id);
  });

  it("is nothing else", () => {
    for (const id of ["", "x".repeat(101), "a/b", "a b", "ä", "a\n", "%", undefined, 5, null, {}]) {
      expect(() => checkSessionId(id as string)).toThrow(expect.objectContaining({ code: "SESSION_ID_INVALID" }));
    }
  });
});
