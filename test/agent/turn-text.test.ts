import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/tool.ts";
import { storedText } from "../../src/agent/turn-text.ts";
import { agentRoom, drain } from "../support/agent-room.ts";

describe("what is stored of a turn's text", () => {
  it("is what was said live, whatever the steps said and did", async () => {
    const nothing = defineTool({ name: "nothing", description: "Does nothing.", input: z.object({}), run: () => null });
    const call = { tool: "nothing", input: {} };
    const said = fc.constantFrom("", " ", "a", "\n", "Let me see.", "b\n\n");
    const step = fc.array(fc.oneof(said, fc.constant(call)), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 3 }), said, async (steps, end) => {
        const all = [...steps.map((parts) => [...parts, call]), [end, "the end"]];
        const { agent, sessions } = await agentRoom(all, { tools: [nothing] });
        const { events, result } = await drain(agent.stream("go", { sessionId: "room" }));
        const live = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
        const session = await sessions.get("room");
        expect(storedText(session?.events ?? [], result?.turn ?? "")).toEqual({ text: live, steps: all.length });
        expect(result).toMatchObject({ text: live, steps: all.length });
      }),
      { numRuns: 60 },
    );
  });

  it("is of that turn alone", () => {
    const event = (turn: string, content: string) => ({
      id: turn + content,
      at: "2026-11-30T00:00:00.000Z",
      turn,
      message: { role: "assistant" as const, content },
    });
    expect(storedText([event("t1", "one"), event("t2", "two"), event("t2", "three")], "t2")).toEqual({
      text: "two\n\nthree",
      steps: 2,
    });
    expect(storedText([event("t1", "one")], "t3")).toEqual({ text: "", steps: 0 });
  });
});
