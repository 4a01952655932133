import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { AgentEvent, CallFailed } from "../../src/agent/agent-event.ts";
import { ExecutionContext } from "../../src/agent/execution-context.ts";
import { interruptedResult } from "../../src/agent/heal-messages.ts";
import { defineTool } from "../../src/agent/tool.ts";
import { tellAgain } from "../../src/agent/turn-end.ts";
import { noUsage } from "../../src/agent/usage.ts";
import { type AgentRoom, agentRoom, drain, shape, transcript } from "../support/agent-room.ts";
import { forever, type ScriptedStep } from "../support/scripted-model.ts";

const room = { sessionId: "room" };
const looked = vi.fn(() => "a whale");
const look = defineTool({ name: "look", description: "Looks.", input: z.object({}), run: looked });
const looking = { tool: "look", input: {} };

/** A process in which a turn is begun, and which is gone when `last` says so of what was told. */
async function goneAt(last: (event: AgentEvent | CallFailed) => boolean, steps: readonly ScriptedStep[]) {
  const before = await agentRoom(steps, { tools: [look] });
  const stop = new AbortController();
  const stream = before.agent.stream("What is there?", { ...room, replyTo: "place", signal: stop.signal });
  const told: (AgentEvent | CallFailed)[] = [];
  for (let isLast = false; !isLast; ) {
    const { value } = await stream.next();
    if (!value || !("type" in value)) throw new Error("the call ended before");
    told.push(value);
    isLast = last(value);
    if (value.type === "text-delta" && value.text.endsWith("Stop me")) stop.abort();
  }
  await before.sessions.close();
  return { store: before.store, told, end: told.at(-1) };
}

/** The process that comes after. */
function comesAfter({ store }: Pick<AgentRoom, "store">, steps: readonly ScriptedStep[] = []): Promise<AgentRoom> {
  return agentRoom(steps, { store, tools: [look] });
}

const isEnd = ({ type }: AgentEvent | CallFailed) => type === "turn-end" || type === "turn-failed";
const starts = ({ type }: AgentEvent | CallFailed) => type === "turn-start";

describe("a turn that had ended when its process went away", () => {
  it("is shown again as it was, without a model call, and then finished", async () => {
    const gone = await goneAt(isEnd, [["Let me see.", looking], { parts: ["A whale", "."], finish: "length" }]);
    const next = await comesAfter(gone);
    const { events, result } = await drain(next.agent.resume("room"));
    expect(events).toEqual([{ ...gone.told[0], resumed: true }, gone.end]);
    expect(gone.end).toMatchObject({ text: "Let me see.\n\nA whale.", finishReason: "length", steps: 2 });
    expect(result).toMatchObject({ text: "Let me see.\n\nA whale.", usage: { inputTokens: 20 } });
    expect(result?.events.map(({ message }) => message.role)).toEqual(["user", "assistant", "tool", "assistant"]);
    next.model.assertComplete();
    expect(await next.sessions.unfinished()).toEqual([]);
    expect(await drain(next.agent.resume("room"))).toEqual({ events: [], result: undefined });
  });

  it("is shown before what came since is answered", async () => {
    const gone = await goneAt(isEnd, [["A whale."]]);
    const next = await comesAfter(gone, [["Still a whale."]]);
    const { events, result } = await drain(next.agent.stream("And now?", { ...room, replyTo: "place two" }));
    expect(shape(events)).toEqual([
      "turn-start",
      "turn-end stop",
      "turn-start",
      'text "Still a whale."',
      "turn-end stop",
    ]);
    expect(events.filter(starts)).toMatchObject([{ resumed: true, replyTo: "place" }, { replyTo: "place two" }]);
    expect(events.filter(starts)[1]).not.toHaveProperty("resumed");
    expect(result?.text).toBe("Still a whale.");
  });

  it("as a failure is told under the same reference, behind what was said before it", async () => {
    const gone = await goneAt(isEnd, [
      ["Let me see.", looking],
      ["half an ans", new Error("Wrong: sk-123")],
    ]);
    const next = await comesAfter(gone);
    const { events } = await drain(next.agent.resume("room"));
    expect(shape(events)).toEqual(["turn-start", 'text "Let me see."', "turn-failed MODEL_FAILED"]);
    expect(events.at(-1)).toMatchObject({ reference: gone.end && "reference" in gone.end && gone.end.reference });
    const silent = await comesAfter(await goneAt(isEnd, [[new Error("broken")]]));
    expect(shape((await drain(silent.agent.resume("room"))).events)).toEqual([
      "turn-start",
      "turn-failed MODEL_FAILED",
    ]);
  });

  it("by a stop keeps the part that was said", async () => {
    const gone = await goneAt(isEnd, [
      ["Let me see.", looking],
      ["Stop me", forever],
    ]);
    const next = await comesAfter(gone);
    const { events } = await drain(next.agent.resume("room"));
    expect(shape(events)).toEqual(["turn-start", 'text "Let me see.\\n\\nStop me"', "turn-failed RUN_STOPPED"]);
  });

  it("is left to who comes next by a reader who goes away before its end", async () => {
    const gone = await goneAt(isEnd, [["A whale."]]);
    const next = await comesAfter(gone);
    const stream = next.agent.resume("room");
    await stream.next();
    await stream.return(undefined);
    expect(shape((await drain(next.agent.resume("room"))).events)).toEqual(["turn-start", "turn-end stop"]);
  });

  it("is shown as far as it is known, if another version of the program stored its end", async () => {
    const context = new ExecutionContext({ turn: "t", author: undefined, events: [], state: {} });
    const { events } = await drain(tellAgain({ context, inputs: [], ended: {}, settle: () => {} }));
    expect(events[1]).toEqual({
      type: "turn-end",
      turn: "t",
      text: "",
      finishReason: "other",
      usage: noUsage,
      steps: 0,
    });
  });

  it("stores nothing of what was said or failed beside its events", async () => {
    const saves: unknown[] = [];
    const { agent } = await agentRoom([["A secret."], [new Error("Wrong: sk-123")]], {
      override: (sessions) => ({
        async save(session, options) {
          saves.push(options?.ended);
          return sessions.save(session, options);
        },
      }),
    });
    await agent.run("first", room);
    await expect(agent.run("second", room)).rejects.toThrow("failed");
    expect(saves).toEqual([
      {
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 },
        steps: 1,
      },
      { code: "MODEL_FAILED", reference: expect.stringMatching(/^\w{6}$/) },
    ]);
  });
});

describe("a turn that had not ended when its process went away", () => {
  it("says again what its stored steps said, and goes on; the call of unknown outcome is not run again", async () => {
    looked.mockClear();
    const gone = await goneAt(({ type }) => type === "tool-start", [["Let me see.", looking]]);
    const next = await comesAfter(gone, [["I lost sight of it."]]);
    const { events, result } = await drain(next.agent.resume("room"));
    expect(shape(events)).toEqual(["turn-start", 'text "Let me see.\\n\\nI lost sight of it."', "turn-end stop"]);
    expect(events[0]).toEqual({ ...gone.told[0], resumed: true });
    expect(events[1]).toMatchObject({ type: "text-delta", text: "Let me see." });
    expect(result).toMatchObject({ text: "Let me see.\n\nI lost sight of it.", steps: 2 });
    expect(next.model.promptOf(0)).toContain(interruptedResult);
    expect(looked).not.toHaveBeenCalled();
    expect(await transcript(next.sessions)).toEqual([
      "user: What is there?",
      "assistant: Let me see.",
      "call look {}",
      "assistant: I lost sight of it.",
    ]);
  });

  it("is begun anew where no step of it was complete", async () => {
    const gone = await goneAt(({ type }) => type === "text-delta", [["half an ans", forever]]);
    const next = await comesAfter(gone, [["A whale."]]);
    const { events } = await drain(next.agent.resume("room"));
    expect(shape(events)).toEqual(["turn-start", 'text "A whale."', "turn-end stop"]);
    expect(events[0]).toEqual({ ...gone.told[0], resumed: true });
  });

  it("is not gone on with if all that it was to answer has been erased: it ends silently, and the next one begins", async () => {
    const gone = await goneAt(({ type }) => type === "tool-start", [["Let me see.", looking]]);
    const next = await comesAfter(gone, [["Hello!"]]);
    const [asked] = (await next.sessions.get("room"))?.events ?? [];
    await next.sessions.erase([asked?.id ?? ""]);
    const { events, result } = await drain(next.agent.stream("Hello?", room));
    expect(shape(events)).toEqual(["turn-start", 'text "Hello!"', "turn-end stop"]);
    expect(result?.text).toBe("Hello!");
    expect(next.model.promptOf(0)).not.toContain("What is there?");
    next.model.assertComplete();
  });

  it("can't go on for ever: the steps that it took before count", async () => {
    const gone = await goneAt(({ type }) => type === "tool-start", [[looking]]);
    const next = await agentRoom([["That was it."]], { store: gone.store, tools: [look], maxSteps: 2 });
    const result = await drain(next.agent.resume("room"));
    expect(next.model.calls[0]?.toolChoice).toEqual({ type: "none" });
    expect(result.result).toMatchObject({ finishReason: "step-limit", steps: 2 });
  });
});
