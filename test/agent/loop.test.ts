import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { interruptedResult } from "../../src/agent/heal-messages.ts";
import { defineTool, type Tool } from "../../src/agent/tool.ts";
import { currentTime } from "../../src/agent/tools/current-time.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { createLogger } from "../../src/log.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { agentRoom, drain, eventually, shape, transcript } from "../support/agent-room.ts";
import { forever } from "../support/scripted-model.ts";

const room = { sessionId: "room" };

function tool(name: string, run: Tool["run"], input: z.ZodType = z.object({})): Tool {
  return defineTool({ name, description: `Does ${name}.`, input, run: run as never });
}

const double = tool("double", ({ n }: never) => Number(n) * 2, z.object({ n: z.number() }));

describe("a step with tools", () => {
  it("runs what the model calls and asks again with the result", async () => {
    const { agent, model, sessions } = await agentRoom(
      [["Let me see.", { tool: "double", input: { n: 21 } }], ["It is 42."]],
      { tools: [double] },
    );
    const { events, result } = await drain(agent.stream("Twice 21?", room));
    expect(shape(events)).toEqual([
      "turn-start",
      'text "Let me see."',
      "tool-start double",
      "tool-end double",
      'text "\\n\\nIt is 42."',
      "turn-end stop",
    ]);
    expect(result).toMatchObject({
      text: "Let me see.\n\nIt is 42.",
      steps: 2,
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    expect(model.promptOf(1)).toContain('"output":{"type":"json","value":42}');
    expect(await transcript(sessions)).toEqual([
      "user: Twice 21?",
      "assistant: Let me see.",
      'call double {"n":21}',
      "result double 42",
      "assistant: It is 42.",
    ]);
    model.assertComplete();
  });

  it("the text of the answer is the deltas put together", async () => {
    const { agent } = await agentRoom(
      [
        ["a", "b", { tool: "double", input: { n: 1 } }],
        ["c", "d"],
      ],
      {
        tools: [double],
      },
    );
    const { events } = await drain(agent.stream("x", room));
    const deltas = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    expect(events.at(-1)).toMatchObject({ type: "turn-end", text: deltas });
  });

  it("tells the model its tools in one order, with their schemas", async () => {
    const { agent, model } = await agentRoom([["ok"]], { tools: [double, currentTime] });
    await agent.run("x", room);
    expect(model.calls[0]?.tools).toMatchObject([
      { name: "current_time", inputSchema: { properties: { zone: { type: "string" } } } },
      { name: "double", description: "Does double.", inputSchema: { required: ["n"] } },
    ]);
  });

  it("several calls run one after the other, and their results are one event", async () => {
    const order: string[] = [];
    const slow = (name: string) =>
      tool(name, async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        return name;
      });
    const { agent, sessions } = await agentRoom(
      [
        [
          { tool: "one", input: {} },
          { tool: "two", input: {} },
        ],
        ["done"],
      ],
      { tools: [slow("one"), slow("two")] },
    );
    await agent.run("go", room);
    expect(order).toEqual(["one begins", "one ends", "two begins", "two ends"]);
    expect((await sessions.get("room"))?.events).toHaveLength(4);
  });

  it("a call is stored before its tool is run, and its result before the model is asked again", async () => {
    const seen: string[][] = [];
    const spy = tool("spy", async () => {
      seen.push(await transcript(all.sessions));
      return "seen";
    });
    const all = await agentRoom([[{ tool: "spy", input: {} }], ["done"]], { tools: [spy] });
    const { events } = await drain(all.agent.stream("go", room));
    expect(seen).toEqual([["user: go", "call spy {}"]]);
    expect(shape(events)).toContain('text "done"');
  });
});

describe("what a tool is told", () => {
  it("who asked, and the session's state, which it may replace", async () => {
    const count = tool("count", (_input, { author, state, setState }) => {
      const calls = Number(state["calls"] ?? 0) + 1;
      setState({ calls });
      return `${author?.name} ${calls}`;
    });
    const { agent, model, sessions } = await agentRoom(
      [[{ tool: "count", input: {} }], [{ tool: "count", input: {} }], ["done"]],
      { tools: [count] },
    );
    await agent.run("go", { ...room, author: { id: "1", name: "Ada" } });
    expect(model.promptOf(2)).toMatch(/"Ada 1"[\s\S]*"Ada 2"/);
    expect((await sessions.get("room"))?.state).toEqual({ calls: 2 });
  });

  it("a state that is not plain JSON is the tool's own mistake", async () => {
    const bad = tool("bad", (_input, { setState }) => {
      setState({ when: new Date() } as never);
      return null;
    });
    const { agent, model, sessions } = await agentRoom([[{ tool: "bad", input: {} }], ["sorry"]], { tools: [bad] });
    await agent.run("go", room);
    expect(model.promptOf(1)).toContain("state.when is not plain JSON");
    expect((await sessions.get("room"))?.state).toEqual({});
  });
});

describe("a tool that fails is a result that the model reads", () => {
  it.each([
    ["throws", tool("t", () => Promise.reject(new Error("disk on fire"))), {}, "disk on fire"],
    [
      "throws at once",
      tool("t", () => {
        throw new Error("no");
      }),
      {},
      "no",
    ],
    ["throws what is no error", tool("t", () => Promise.reject("just text")), {}, "just text"],
    ["gets an input that does not fit", tool("t", () => 1, z.object({ n: z.number() })), { n: "x" }, "expected number"],
    ["returns what is not JSON", tool("t", () => new Map() as never), {}, "result is not plain JSON: Map"],
    ["does not exist", tool("other", () => 1), {}, "unavailable tool 't'"],
    ["gets no JSON at all", tool("t", () => 1), "{oops", "Invalid input for tool t"],
  ])("a tool that %s", async (_what, given, input, message) => {
    const { agent, model } = await agentRoom([[{ tool: "t", input }], ["I see."]], { tools: [given] });
    const { events, result } = await drain(agent.stream("go", room));
    expect(shape(events)).toEqual([
      "turn-start",
      "tool-start t",
      "tool-end t failed",
      'text "I see."',
      "turn-end stop",
    ]);
    expect(result?.text).toBe("I see.");
    expect(model.promptOf(1)).toContain(message);
    expect(model.promptOf(1).match(/"type":"tool-result"/g)).toHaveLength(1);
  });

  it("a result of two megabytes is cut, and says so", async () => {
    const huge = tool("huge", () => ({ rows: "x".repeat(2_000_000) }));
    const { agent, model } = await agentRoom([[{ tool: "huge", input: {} }], ["ok"]], { tools: [huge] });
    await agent.run("go", room);
    expect(model.promptOf(1).length).toBeLessThan(100_000);
    expect(model.promptOf(1)).toContain("[cut: 19");
  });

  it("a result of nothing is null", async () => {
    const silent = tool("silent", () => undefined as never);
    const { agent, model } = await agentRoom([[{ tool: "silent", input: {} }], ["ok"]], { tools: [silent] });
    await agent.run("go", room);
    expect(model.promptOf(1)).toContain('{"type":"json","value":null}');
  });
});

describe("the bound on steps", () => {
  it("the last step may not call tools, so that the turn ends with an answer", async () => {
    const { agent, model } = await agentRoom(
      [[{ tool: "double", input: { n: 1 } }], [{ tool: "double", input: { n: 2 } }], ["As far as I got: 4."]],
      { tools: [double], maxSteps: 3 },
    );
    const result = await agent.run("go", room);
    expect(model.calls.map(({ toolChoice }) => toolChoice?.type)).toEqual(["auto", "auto", "none"]);
    expect(result).toMatchObject({ text: "As far as I got: 4.", finishReason: "step-limit", steps: 3 });
  });

  it.each([
    ["says nothing", []],
    ["calls a tool all the same", [{ tool: "double", input: { n: 2 } }]],
  ])("a model that then %s fails with the step limit, and its calls stay saved", async (_what, last) => {
    const { agent, sessions } = await agentRoom([[{ tool: "double", input: { n: 1 } }], last], {
      tools: [double],
      maxSteps: 2,
    });
    await expect(agent.run("go", room)).rejects.toMatchObject({ code: "STEP_LIMIT" });
    expect(await transcript(sessions)).toEqual(["user: go", 'call double {"n":1}', "result double 2"]);
  });

  it("an answer in the only step that is allowed is an ordinary end", async () => {
    const { agent } = await agentRoom([["hi"], ["hi"]], { tools: [double], maxSteps: 1 });
    expect((await agent.run("go", room))?.finishReason).toBe("stop");
    const none = await agentRoom([["hi"]], { tools: [double], maxSteps: 0 });
    expect((await none.agent.run("go", room))?.steps).toBe(1);
    const without = await agentRoom([["hi"]], { maxSteps: 1 });
    expect((await without.agent.run("go", room))?.finishReason).toBe("stop");
  });
});

describe("how an answer may end", () => {
  it.each([
    ["length", "length"],
    ["content-filter", "content-filter"],
    ["other", "other"],
  ] as const)("%s is told", async (finish, finishReason) => {
    const { agent, sessions } = await agentRoom([{ parts: ["as far as it"], finish }]);
    expect(await agent.run("go", room)).toMatchObject({ text: "as far as it", finishReason });
    expect(await transcript(sessions)).toEqual(["user: go", "assistant: as far as it"]);
  });

  it.each([[[]], [[" \n"]]])("an empty answer %j is an error, and nothing of it is kept", async (parts) => {
    const { agent, sessions } = await agentRoom([{ parts, finish: "content-filter" }]);
    await expect(agent.run("go", room)).rejects.toMatchObject({
      code: "MODEL_EMPTY_ANSWER",
      fields: { finishReason: "content-filter" },
    });
    expect(await transcript(sessions)).toEqual(["user: go"]);
  });

  it("nothing after a tool call is an end, if something was said before it", async () => {
    const { agent, sessions } = await agentRoom([["Doing it.", { tool: "double", input: { n: 1 } }], []], {
      tools: [double],
    });
    expect((await agent.run("go", room))?.text).toBe("Doing it.");
    expect(await transcript(sessions)).toHaveLength(4);
  });

  it("a provider that reports an error as its finish has failed", async () => {
    const { agent } = await agentRoom([{ parts: ["half"], finish: "error" }]);
    await expect(agent.run("go", room)).rejects.toMatchObject({ code: "MODEL_FAILED" });
  });
});

describe("a run that fails", () => {
  it("leaves the user's words, the calls and the results, and no half answer", async () => {
    const { agent, model, sessions } = await agentRoom(
      [[{ tool: "double", input: { n: 4 } }], ["half an ans", new Error("connection lost")], ["It is 8."]],
      { tools: [double] },
    );
    const { events } = await drain(agent.stream("Twice 4?", room));
    expect(shape(events).at(-1)).toBe("turn-failed MODEL_FAILED");
    expect(await transcript(sessions)).toEqual(["user: Twice 4?", 'call double {"n":4}', "result double 8"]);
    expect((await agent.run("Well?", room))?.text).toBe("It is 8.");
    expect(model.promptOf(2)).toContain('"value":8');
    expect(model.promptOf(2)).not.toContain("half an ans");
  });

  it("is logged with its reference, its code and its turn, and without the conversation", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "debug", destination: { write: (line) => void lines.push(line) } });
    const { agent } = await agentRoom([[new Error("You said: my secret plan")]], { log });
    const { events } = await drain(agent.stream("my secret plan", room));
    const failed = events.at(-1);
    expect(failed).toMatchObject({ type: "turn-failed", reference: expect.stringMatching(/^\w{6}$/) });
    const line = lines.map((each) => JSON.parse(each)).find(({ level }) => level === 50);
    expect(line).toMatchObject({
      code: "MODEL_FAILED",
      sessionId: "room",
      ...(failed && "reference" in failed && { reference: failed.reference }),
    });
    expect(lines.join("")).not.toContain("secret");
  });
});

describe("a conversation that is too long for the model", () => {
  const tooLong = new Error("context_length_exceeded");

  it("is shown from a later turn on, and the thread goes on", async () => {
    const { agent, model, sessions } = await agentRoom(
      [["one"], ["two"], ["three"], [tooLong], [tooLong], [{ tool: "double", input: { n: 1 } }], ["four"]],
      { tools: [double] },
    );
    for (const text of ["first", "second", "third", "fourth"]) await agent.run(text, room);
    expect(model.promptOf(3)).toContain("first");
    expect(model.promptOf(4)).not.toContain("first");
    expect(model.promptOf(4)).toContain("third");
    expect(model.promptOf(5)).not.toContain("third");
    expect(model.promptOf(6)).not.toContain("third");
    expect(model.promptOf(6)).toContain("fourth");
    expect(await transcript(sessions)).toHaveLength(10);
    model.assertComplete();
  });

  it("that is so with its newest turn alone is an error, after a few tries", async () => {
    const { agent, model } = await agentRoom([["one"], [tooLong], [tooLong]]);
    await agent.run("first", room);
    await expect(agent.run("second", room)).rejects.toMatchObject({ code: "MODEL_INPUT_TOO_LONG" });
    model.assertComplete();
  });

  it("that failed again and again before is no burden on what is said next", async () => {
    const down = new Error("down");
    const { agent, model } = await agentRoom([[down], [down], [down], [tooLong], ["fine"]]);
    for (const place of [1, 2, 3]) await expect(agent.run(`lost ${place}`, room)).rejects.toThrow("failed");
    expect((await agent.run("are you there?", room))?.text).toBe("fine");
    expect(model.promptOf(3)).toContain("lost 1");
    expect(model.promptOf(4)).not.toContain("lost 1");
    model.assertComplete();
  });

  it("that is found too long in the middle of an answer is an error", async () => {
    const { agent, model } = await agentRoom([["one"], ["half", tooLong]]);
    await agent.run("first", room);
    await expect(agent.run("second", room)).rejects.toMatchObject({ code: "MODEL_INPUT_TOO_LONG" });
    model.assertComplete();
  });
});

describe("the deadline", () => {
  it("may be none", async () => {
    const { agent } = await agentRoom([["fine"]], { deadlineMs: Number.POSITIVE_INFINITY });
    expect((await agent.run("go", room))?.text).toBe("fine");
  });

  it("ends a run whose provider hangs, and the session goes on", async () => {
    const { agent, model, sessions } = await agentRoom([["half", forever], ["fine"]], { deadlineMs: 1_000 });
    await expect(agent.run("go", room)).rejects.toMatchObject({ code: "RUN_DEADLINE" });
    expect(model.abandoned).toBe(1);
    expect(await transcript(sessions)).toEqual(["user: go"]);
    expect((await agent.run("again", room))?.text).toBe("fine");
  });

  it("ends a run whose tool hangs; the call is stored, and the next turn reads that it was interrupted", async () => {
    let heard: AbortSignal | undefined;
    const hung = tool("hung", (_input, { signal }) => {
      heard = signal;
      return forever;
    });
    const { agent, model, sessions } = await agentRoom(
      [
        [
          { tool: "double", input: { n: 1 } },
          { tool: "hung", input: {} },
        ],
        ["fine"],
      ],
      { tools: [hung, double], deadlineMs: 1_000 },
    );
    const { events } = await drain(agent.stream("go", room));
    expect(shape(events)).toEqual([
      "turn-start",
      "tool-start double",
      "tool-end double",
      "tool-start hung",
      "turn-failed RUN_DEADLINE",
    ]);
    expect(heard?.reason).toMatchObject({ code: "RUN_DEADLINE" });
    expect(await transcript(sessions)).toEqual(["user: go", 'call double {"n":1}', "call hung {}", "result double 2"]);
    await agent.run("again", room);
    expect(model.promptOf(1)).toContain(interruptedResult);
    expect(model.promptOf(1)).toContain('"value":2');
  });
});

describe("killed between a call and its result", () => {
  it("the next turn works, the model reads that the call was interrupted, and the tool is not run again", async () => {
    const ran = vi.fn(() => forever);
    const hung = tool("hung", ran);
    const first = await agentRoom([[{ tool: "hung", input: {} }]], { tools: [hung] });
    const killed = first.agent.stream("go", room);
    for (let type = ""; type !== "tool-start"; ) {
      const { value } = await killed.next();
      if (value && "type" in value) type = value.type;
    }
    void killed.next();
    await eventually(() => expect(ran).toHaveBeenCalledTimes(1));

    // Another process finds what the first one left; its owner is gone.
    await first.sessions.close();
    const sessions = await openSessions({ store: first.store });
    const second = await agentRoom([["Where were we?"], ["Hello!"]], { tools: [hung], sessions });
    expect((await second.agent.run("hello?", room))?.text).toBe("Hello!");
    expect(second.model.promptOf(0)).toContain(interruptedResult);
    expect(second.model.promptOf(0)).not.toContain("hello?");
    expect(second.model.promptOf(1)).toMatch(/go[\s\S]*tool-call[\s\S]*tool-result[\s\S]*Where were we[\s\S]*hello\?/);
    expect(ran).toHaveBeenCalledTimes(1);
    await killed.return(undefined);
  });
});

describe("what the provider is asked", () => {
  it("not to keep the conversation, and what the options say", async () => {
    const { agent, model } = await agentRoom([["ok"]], {
      providerOptions: { openai: { reasoningEffort: "low" }, anthropic: { effort: "low" } },
      maxOutputTokens: 77,
      instructions: "Be brief.",
    });
    await agent.run("x", room);
    expect(model.calls[0]).toMatchObject({
      maxOutputTokens: 77,
      providerOptions: { openai: { store: false, reasoningEffort: "low" }, anthropic: { effort: "low" } },
    });
    expect(model.promptOf(0)).toMatch(/^system: Be brief\.\n/);
  });

  it("with the same first bytes in every call of a session", async () => {
    const { agent, model } = await agentRoom([["one"], ["two"], ["three"]], { tools: [double] });
    for (const text of ["a", "b", "c"]) await agent.run(text, { ...room, author: { id: "1", name: "Ada" } });
    expect(model.promptOf(1).startsWith(model.promptOf(0))).toBe(true);
    expect(model.promptOf(2).startsWith(model.promptOf(1))).toBe(true);
    expect(model.calls[2]?.tools).toEqual(model.calls[0]?.tools);
  });
});

describe("an error of ours from inside the model", () => {
  it("stays as it is", async () => {
    const own = new ThreadkeeperError("MODEL_KEY_MISSING", "no key");
    const { agent } = await agentRoom([[own]]);
    await expect(agent.run("x", room)).rejects.toBe(own);
  });
});
