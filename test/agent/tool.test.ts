import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { checkTools, defineTool, type Tool } from "../../src/agent/tool.ts";
import { scriptedModel } from "../support/scripted-model.ts";

function named(name: string, more: Partial<Tool> = {}): Tool {
  return { ...defineTool({ name, description: "Does it.", input: z.object({}), run: () => null }), ...more };
}

describe("tools", () => {
  it("are kept in one order, whatever order they were given in", () => {
    const names = (tools: Tool[]) => [...checkTools(tools).keys()];
    expect(names([named("b"), named("a"), named("C")])).toEqual(["C", "a", "b"]);
    expect(names([named("C"), named("b"), named("a")])).toEqual(["C", "a", "b"]);
  });

  it.each([
    ["a name with a space", [named("a b")], "its name is not"],
    ["no name", [named("")], "its name is not"],
    ["a name of 65 characters", [named("x".repeat(65))], "its name is not"],
    ["two of one name", [named("a"), named("a")], "there are two of that name"],
    ["no description", [named("a", { description: " " })], "it has no description"],
    ["an input that is no object", [named("a", { input: z.string() as never })], "its input is not an object"],
    ["an input without a schema", [named("a", { input: z.object({ at: z.date() }) as never })], "cannot be described"],
  ])("with %s are refused when the agent is made", (_what, tools, message) => {
    expect(() => new Agent({ model: scriptedModel([]), tools })).toThrow(message);
    expect(() => checkTools(tools)).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }));
  });

  it("are described once, not in every call of the model", async () => {
    let read = 0;
    const tool: Tool = Object.defineProperty(named("a"), "input", {
      get: () => {
        read += 1;
        return z.object({});
      },
    });
    const model = scriptedModel([["one"], ["two"]]);
    const agent = new Agent({ model, tools: [tool] });
    const readAtFirst = read;
    await agent.run("go");
    await agent.run("go");
    expect(read).toBe(readAtFirst);
    expect(model.calls[1]?.tools?.map(({ name }) => name)).toEqual(["a"]);
  });

  it("describe what the model has to give, not what the tool gets", () => {
    const tool = defineTool({
      name: "t",
      description: "d",
      input: z.object({ n: z.string().transform(Number), zone: z.string().default("UTC").describe("a zone") }),
      run: ({ n }) => n,
    });
    expect(checkTools([tool]).get("t")?.inputSchema).toMatchObject({
      type: "object",
      properties: { n: { type: "string" }, zone: { description: "a zone" } },
      required: ["n"],
    });
  });
});
