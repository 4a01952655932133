import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText } from "../../src/agent/cut-text.ts";

const text = fc.string({ unit: "grapheme", maxLength: 60 });
const length = fc.integer({ min: 1, max: 60 });

describe("cutting a text", () => {
  it("leaves a short one as it is, and says of a long one how much is missing", () => {
    expect(cutText("short", 5)).toBe("short");
    expect(cutText("a long one", 6)).toBe("a long\n[cut: 4 more characters]");
    expect(cutText("", 5)).toBe("");
  });

  it("twice is cutting once, to the shorter length", () => {
    fc.assert(
      fc.property(text, length, length, (whole, some, more) => {
        expect(cutText(cutText(whole, some), more)).toBe(cutText(whole, Math.min(some, more)));
      }),
    );
  });

  it("never halves a character", () => {
    expect(cutText("ab🎉cd", 3)).toBe("ab\n[cut: 4 more characters]");
  });
});
