import type { ToolModelMessage, ToolResultPart } from "ai";
import { describe, expect, it } from "vitest";
import { cutResults } from "../../src/agent/cut-result.ts";

const message = (...outputs: ToolResultPart["output"][]): ToolModelMessage => ({
  role: "tool",
  content: outputs.map((output, place) => ({
    type: "tool-result",
    toolCallId: `c${place}`,
    toolName: "t",
    output,
  })),
});
const cut = (...outputs: ToolResultPart["output"][]) =>
  cutResults(message(...outputs), 10).content.map((part) => (part.type === "tool-result" ? part.output : part));
const long = "x".repeat(30);
const shown = `${"x".repeat(10)}\n[cut: 20 more characters]`;

describe("cutting results", () => {
  it("leaves short ones as they are", () => {
    const short = message(
      { type: "text", value: "ok" },
      { type: "json", value: { n: 1 } },
      { type: "error-json", value: [1] },
      { type: "execution-denied", reason: long },
    );
    expect(cutResults(short, 10)).toEqual(short);
  });

  it("cuts texts and errors, and what is large JSON becomes text", () => {
    expect(
      cut({ type: "text", value: long }, { type: "error-text", value: long }, { type: "json", value: { rows: long } }),
    ).toEqual([
      { type: "text", value: shown },
      { type: "error-text", value: shown },
      { type: "text", value: '{"rows":"x\n[cut: 31 more characters]' },
    ]);
    expect(cut({ type: "error-json", value: long })).toEqual([
      { type: "error-text", value: '"xxxxxxxxx\n[cut: 22 more characters]' },
    ]);
  });

  it("cuts the texts among several parts", () => {
    const file = { type: "image-data" as const, data: "aGk=", mediaType: "image/png" };
    expect(cut({ type: "content", value: [{ type: "text", text: long }, file] })).toEqual([
      { type: "content", value: [{ type: "text", text: shown }, file] },
    ]);
  });
});
