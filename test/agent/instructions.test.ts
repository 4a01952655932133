import { describe, expect, it } from "vitest";
import { buildInstructions } from "../../src/agent/instructions.ts";
import { openLabel } from "../../src/agent/speaker-label.ts";

describe("instructions", () => {
  it("are the same bytes every time, and hold no time or name", () => {
    expect(buildInstructions("Be brief.")).toBe(buildInstructions("Be brief.\n"));
    expect(buildInstructions(" ")).toBe(buildInstructions());
    expect(buildInstructions()).not.toMatch(/\d{4}/);
  });

  it("put the agent's own first, and explain the labels as they are written", () => {
    expect(buildInstructions("Be brief.")).toMatch(/^Be brief\.\n\nHow to read this conversation:/);
    for (const kind of ["said", "overheard"] as const) {
      expect(buildInstructions()).toContain(openLabel({ kind }).slice(0, -2));
    }
  });
});
