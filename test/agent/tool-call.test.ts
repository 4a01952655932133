import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/tool.ts";
import { callTool } from "../../src/agent/tool-call.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { forever } from "../support/scripted-model.ts";

const context = { signal: new AbortController().signal, author: undefined, state: {}, setState: () => {} };
const echo = defineTool({
  name: "echo",
  description: "Gives back.",
  input: z.object({ value: z.unknown() }),
  run: ({ value }) => value as string,
});

describe("one call of a tool", () => {
  it.each([
    ["a text", "hello", { type: "text", value: "hello" }],
    ["an object", { a: [1, null] }, { type: "json", value: { a: [1, null] } }],
    ["nothing", undefined, { type: "json", value: null }],
    ["no tool", undefined, { type: "error-text", value: "There is no such tool." }],
  ])("that gives %s", async (what, value, output) => {
    expect(await callTool(what === "no tool" ? undefined : echo, { value }, context)).toEqual(output);
  });

  it("gets the input as its schema makes it", async () => {
    const parse = defineTool({
      name: "parse",
      description: "Parses.",
      input: z.object({ n: z.string().transform(Number).default(7) }),
      run: ({ n }) => n + 1,
    });
    expect(await callTool(parse, { n: "41" }, context)).toEqual({ type: "json", value: 42 });
    expect(await callTool(parse, {}, context)).toEqual({ type: "json", value: 8 });
    expect(await callTool(parse, { n: 1 }, context)).toMatchObject({ type: "error-text" });
  });

  it("that is too large is cut at a whole character", async () => {
    const output = await callTool(echo, { value: "🎉".repeat(40_001).slice(1) }, context);
    expect(output).toMatchObject({ type: "text" });
    const [head = ""] = String("value" in output ? output.value : "").split("\n");
    expect(head.length).toBeLessThanOrEqual(64_000);
    expect(head.at(-1)).toMatch(/[\udc00-\udfff]/);
  });

  it("ends with the run, though the tool hangs, its schema hangs, or it fails for that very reason", async () => {
    const reason = new ThreadkeeperError("RUN_STOPPED", "stopped");
    const hung = defineTool({ name: "hung", description: "Hangs.", input: z.object({}), run: () => forever });
    const slow = defineTool({
      name: "slow",
      description: "Checks for ever.",
      input: z.object({}).refine(() => forever),
      run: () => 1,
    });
    const heeding = defineTool({
      name: "heeding",
      description: "Heeds.",
      input: z.object({}),
      run: (_input, { signal }) =>
        new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject("x"))),
    });
    for (const tool of [hung, slow, heeding]) {
      const stop = new AbortController();
      const call = callTool(tool, {}, { ...context, signal: stop.signal });
      stop.abort(reason);
      await expect(call).rejects.toBe(reason);
    }
  });
});
