import type { LanguageModelV3 } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/tool.ts";
import { agentRoom, drain } from "../support/agent-room.ts";
import { growingModel } from "../support/growing-model.ts";
import { scriptedModel } from "../support/scripted-model.ts";

const room = { sessionId: "room" };

/** A model that refuses a prompt of more than so many bytes. */
function bounded(model: LanguageModelV3, mostBytes: number): LanguageModelV3 & { readonly refused: number } {
  const bound = {
    ...model,
    refused: 0,
    async doStream(options: Parameters<LanguageModelV3["doStream"]>[0]) {
      if (JSON.stringify(options.prompt).length <= mostBytes) return model.doStream(options);
      bound.refused += 1;
      throw new Error("context_length_exceeded");
    },
  };
  return bound;
}

describe("200 turns", () => {
  it.each([
    ["with a model that can take what it is shown", 2_000, 1_000_000, 0],
    ["with a model that can take far less than the setting says", 100_000, 20_000, 40],
  ])(
    "%s: each is answered, the model is shown a bounded part, and the person is told once",
    async (_what, windowTokens, mostBytes, mostRefused) => {
      const grown = growingModel((request) => `summary ${request}`);
      const model = bounded(grown.model, mostBytes);
      const { agent, sessions } = await agentRoom([], { model, windowTokens });
      let told = 0;
      for (let place = 0; place < 200; place += 1) {
        const { events, result } = await drain(agent.stream(`question ${place} ${"x".repeat(400)}`, room));
        expect(result?.text).toBe(`answer ${place}`);
        told += events.filter(({ type }) => type === "summarised").length;
      }
      expect(told).toBe(1);
      expect(model.refused).toBeLessThanOrEqual(mostRefused);
      const longest = Math.max(...[...grown.turns, ...grown.requests].map((prompt) => prompt.length));
      expect(longest).toBeLessThan(Math.min(mostBytes, windowTokens * 8) + 4_000);
      expect(grown.requests.length).toBeLessThan(60);
      expect(grown.turns.at(-1)).toContain("<summary>\nsummary ");
      expect((await sessions.get("room"))?.summary?.upTo).toBeGreaterThan(300);
    },
  );
});

describe("a long conversation", () => {
  it("without any summary, since the model only fails at them: the oldest turns are left out", async () => {
    const grown = growingModel(() => "");
    const { agent } = await agentRoom([], { model: grown.model, windowTokens: 2_000 });
    for (let place = 0; place < 60; place += 1) {
      expect((await agent.run(`question ${place} ${"x".repeat(400)}`, room))?.text).toBe(`answer ${place}`);
      await agent.idle();
    }
    expect(Math.max(...grown.turns.map((prompt) => prompt.length))).toBeLessThan(30_000);
    expect(grown.turns.at(-1)).toContain("The older part of this conversation is not shown.");
  });
});

describe("one tool result of 2 MB", () => {
  const huge = defineTool({
    name: "huge",
    description: "Gives a lot.",
    input: z.object({}),
    run: () => ({ rows: "x".repeat(2_000_000) }),
  });

  it("is cut before any turn is left out, also by a model that can take little, and the thread goes on", async () => {
    const script = scriptedModel([
      ["Tea, then."],
      [{ tool: "huge", input: {} }],
      ["Too much."],
      ["Still here."],
      ["They spoke."],
    ]);
    const model = bounded(script, 12_000);
    const { agent } = await agentRoom([], { model, tools: [huge] });
    await agent.run("I like tea.", room);
    expect((await agent.run("Show me everything.", room))?.text).toBe("Too much.");
    expect(script.promptOf(2)).toContain("I like tea.");
    expect(script.promptOf(2)).toMatch(/\[cut: 199\d{4} more characters\]/);
    expect(model.refused).toBe(1);
  });

  it("is shown the same in every call, so that prompt caches hit", async () => {
    const { agent, model } = await agentRoom([[{ tool: "huge", input: {} }], ["Too much."], ["Still here."]], {
      tools: [huge],
    });
    await agent.run("Show me everything.", room);
    await agent.run("And now?", room);
    expect(model.promptOf(1)).toContain("[cut: 19");
    expect(model.promptOf(2).startsWith(model.promptOf(1))).toBe(true);
  });
});
