import { afterEach, describe, expect, it } from "vitest";
import type { AgentOptions } from "../../src/agent/agent.ts";
import { type ModelOptions, resolveModel } from "../../src/agent/model.ts";
import { currentTime } from "../../src/agent/tools/current-time.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { openStore } from "../../src/session/store/open-store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { type AgentRoom, agentRoom, drain, shape, transcript } from "../support/agent-room.ts";
import { type ModelServer, modelServer, type ServedStep } from "../support/model-server.ts";

const room = { sessionId: "room" };
const providers = [
  { setting: "openai:gpt-5-mini", base: "/v1", path: "/v1/responses" },
  { setting: "anthropic:claude-sonnet-4-5", base: "/v1", path: "/v1/messages" },
  {
    setting: "google:gemini-2.5-flash",
    base: "/v1beta",
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  },
  { setting: "openai-compatible:some/model", base: "/v1", path: "/v1/chat/completions" },
  { setting: "ollama:llama3.2:3b", base: "/v1", path: "/v1/chat/completions" },
];
const keys: NonNullable<ModelOptions["keys"]> = {
  OPENAI_API_KEY: "key",
  ANTHROPIC_API_KEY: "key",
  GOOGLE_GENERATIVE_AI_API_KEY: "key",
};

const open: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});

async function serve(...steps: (ServedStep | ServedStep["response"])[]): Promise<ModelServer> {
  const server = await modelServer(steps.map((step) => ("response" in step ? step : { response: step })));
  open.push(server);
  return server;
}

function meet(server: ModelServer, { setting, base }: (typeof providers)[number], options: Partial<AgentOptions> = {}) {
  const model = resolveModel(setting, { keys, baseUrl: server.url + base });
  return agentRoom([], { tools: [currentTime], ...options, model });
}

describe.each(providers)("over HTTP, $setting", (provider) => {
  it("streams its answer", async () => {
    const usage = { input_tokens: 7, output_tokens: 3, prompt_tokens: 7, completion_tokens: 3 };
    const google = { promptTokenCount: 7, candidatesTokenCount: 3 };
    const content = "A rather long answer, in pieces.";
    const server = await serve({ response: { content, usage: { ...usage, ...google } }, chunkSize: 5 });
    const { agent } = await meet(server, provider);
    const { events, result } = await drain(agent.stream("Say something long", room));
    expect(result?.text).toBe("A rather long answer, in pieces.");
    expect(events.filter(({ type }) => type === "text-delta").length).toBeGreaterThan(2);
    expect(result?.usage).toEqual({ inputTokens: 7, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0 });
    expect(server.requests.map(({ path }) => path)).toEqual([provider.path]);
  });

  it("calls a tool and reads its result", async () => {
    const server = await serve(
      { toolCalls: [{ name: "current_time", arguments: '{"zone":"Asia/Tokyo"}' }] },
      { content: "It is late in Tokyo." },
    );
    const { agent, sessions } = await meet(server, provider);
    const { events } = await drain(agent.stream("What time is it in Tokyo?", room));
    expect(shape(events)).toEqual([
      "turn-start",
      "tool-start current_time",
      "tool-end current_time",
      'text "It is late in Tokyo."',
      "turn-end stop",
    ]);
    expect((await sessions.get("room"))?.events.map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(server.requests[1]?.body).toContain("Asia/Tokyo");
    expect(server.requests[1]?.body).toContain("GMT+9");
  });

  it("that is busy is asked again", async () => {
    const server = await serve({ status: 429, error: { message: "slow down" }, retryAfter: 0 }, { content: "Now." });
    const { agent } = await meet(server, provider, { maxRetries: 1 });
    expect((await agent.run("hi", room))?.text).toBe("Now.");
  });

  it("that stays busy, fails or breaks off is an error of ours, and the next message works", async () => {
    const tooLong = {
      status: 400,
      error: { message: "This model's maximum context length is 10 tokens", code: "context_length_exceeded" },
    };
    const server = await serve(
      { status: 429, error: { message: "slow down" } },
      { status: 500, error: { message: "our own fault" } },
      { status: 401, error: { message: "Incorrect API key provided: key" } },
      { status: 404, error: { message: "no such model" } },
      // Also of the half, and of the newest message alone.
      tooLong,
      tooLong,
      tooLong,
      { response: { content: "This is not going to be the whole of it." }, truncateAfterChunks: 3, chunkSize: 5 },
      { content: "Fine again." },
    );
    const { agent, sessions } = await meet(server, provider);
    const codes = [
      "MODEL_RATE_LIMITED",
      "MODEL_FAILED",
      "MODEL_KEY_REFUSED",
      "MODEL_NOT_FOUND",
      "MODEL_INPUT_TOO_LONG",
    ];
    for (const code of codes) await expect(agent.run("hi", room)).rejects.toMatchObject({ code });
    await expect(agent.run("hi", room)).rejects.toMatchObject({ code: expect.stringMatching(/^MODEL_/) });
    expect((await agent.run("hi", room))?.text).toBe("Fine again.");
    const answers = (await transcript(sessions)).filter((line) => /^assistant(?!.*\(reasoning\))/.test(line));
    expect(answers).toEqual(["assistant: Fine again."]);
  });

  it("a session that went through the store and back is sent whole: the request holds the first answer itself", async () => {
    const server = await serve(
      { content: "Let me look.", toolCalls: [{ name: "current_time", arguments: "{}" }] },
      { content: "The first answer, word for word." },
      { content: "The second answer." },
    );
    const store = await openStore("memory:");
    const first = await meet(server, provider, { sessions: await openSessions({ store }) });
    await first.agent.run("One", room);
    await first.sessions.close();
    const second = await meet(server, provider, { sessions: await openSessions({ store }) });
    await second.agent.run("Two", room);
    const body = server.requests[2]?.body ?? "";
    expect(body).toContain("The first answer, word for word.");
    expect(body).toContain("Let me look.");
    expect(body).not.toContain("item_reference");
    if (provider.setting.startsWith("openai:")) expect(JSON.parse(body)).toMatchObject({ store: false });
  });
});

/** What a request says: all that stands before the conversation, and the conversation piece by piece. */
function readBody(body: string): { head: unknown; pieces: unknown[] } {
  const { messages, contents, input, ...head } = JSON.parse(body, (key, value) =>
    key === "cache_control" ? undefined : value,
  );
  const pieces = (messages ?? contents ?? input).flatMap((message: { role: string; content: unknown }) =>
    Array.isArray(message.content) ? message.content.map((part) => ({ role: message.role, part })) : [message],
  );
  return { head, pieces };
}

describe.each(providers)("the bytes that go to $setting", (provider) => {
  it("are those of the call before, and more: over steps, turns, a failure and a restart", async () => {
    const look = { toolCalls: [{ name: "current_time", arguments: "{}" }] };
    const server = await serve(
      { content: "Let me look.", ...look },
      look,
      { content: "It is late." },
      { status: 500, error: { message: "our own fault" } },
      { content: "The second answer." },
      { content: "The third answer." },
    );
    const store = await openStore("memory:");
    const author = { id: "1", name: "Ada" };
    const context = [{ id: "c1", author: { id: "2", name: "Ben" }, text: "It rains." }];
    const first = await meet(server, provider, { sessions: await openSessions({ store }) });
    await first.agent.run("One", { ...room, author, context });
    await expect(first.agent.run("Lost", room)).rejects.toMatchObject({ code: "MODEL_FAILED" });
    await first.agent.run("Two", { ...room, author });
    await first.sessions.close();
    const second = await meet(server, provider, { sessions: await openSessions({ store }) });
    await second.agent.run("Three", room);
    const bodies = server.requests.map(({ body }) => readBody(body));
    expect(bodies).toHaveLength(6);
    for (const [place, { head, pieces }] of bodies.entries()) {
      const before = bodies[place - 1];
      expect(head).toEqual(bodies[0]?.head);
      if (before) expect(JSON.stringify(pieces.slice(0, before.pieces.length))).toBe(JSON.stringify(before.pieces));
    }
  });

  it("are so until a summary moves their beginning, and then again", async () => {
    const turns = 24;
    const server = await serve(...Array.from({ length: 60 }, (_, place) => ({ content: `The answer ${place}.` })));
    const { agent, sessions } = await meet(server, provider, { windowTokens: 1_000 });
    const bodies: ReturnType<typeof readBody>[] = [];
    const starts: number[] = [];
    for (let place = 0; place < turns; place += 1) {
      starts.push((await sessions.get("room"))?.summary?.upTo ?? 0);
      const asked = server.requests.length;
      await agent.run(`Question ${place} ${"x".repeat(400)}`, room);
      bodies.push(readBody(server.requests[asked]?.body ?? ""));
      await agent.idle();
    }
    expect(new Set(starts).size).toBeGreaterThan(2);
    expect(new Set(starts).size).toBeLessThan(turns / 2);
    for (const [place, { head, pieces }] of bodies.entries()) {
      const before = bodies[place - 1];
      expect(head).toEqual(bodies[0]?.head);
      expect(JSON.stringify(pieces).includes('"<summary>\\n')).toBe(starts[place] !== 0);
      if (!before || starts[place] !== starts[place - 1]) continue;
      expect(JSON.stringify(pieces.slice(0, before.pieces.length))).toBe(JSON.stringify(before.pieces));
    }
  });
});

describe.each(providers)(
  "a session that crashes, stops and erasures have left behind, sent to $setting",
  (provider) => {
    const at = "2026-11-30T00:00:00.000Z";
    const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "current_time", input: {} };
    const damaged: SessionEvent["message"][] = [
      { role: "user", content: "" },
      { role: "assistant", content: "An answer whose question was erased." },
      { role: "user", content: "A turn that failed." },
      { role: "user", content: "What time is it?" },
      { role: "assistant", content: [{ type: "text", text: "Let me look." }, call] },
      { role: "assistant", content: "The part before a st" },
      { role: "assistant", content: [{ type: "text", text: "" }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "x", toolName: "t", output: { type: "json", value: 1 } }],
      },
    ];

    it("is a request that every provider takes: users first, each call with its result, nothing empty", async () => {
      const server = await serve({ content: "Fine." }, { content: "Fine again." });
      const { agent, sessions } = await meet(server, provider);
      const session = await sessions.get("room");
      if (!session) throw new Error("there is no session");
      const turns = ["t1", "t1", "t2", "t3", "t3", "t3", "t3", "t3"];
      const events = damaged.map(
        (message, place): SessionEvent => ({
          ...{ id: `e${place}`, at, turn: turns[place] as string, message },
          ...(place === 0 && { erased: true }),
        }),
      );
      await sessions.save({ ...session, events });
      expect((await agent.run("And now?", room))?.text).toBe("Fine.");
      const body = server.requests[0]?.body ?? "";
      const { pieces } = readBody(body);
      expect(body).not.toMatch(/"(?:text|content)":(?:""|\[\])/);
      for (const text of ["An answer whose", "that failed.", "Let me look.", "before a st", "And now?"]) {
        expect(body).toContain(text);
      }
      if (provider.setting.startsWith("anthropic")) {
        const roles: string[] = JSON.parse(body).messages.map(({ role }: { role: string }) => role);
        expect(roles).toEqual(roles.map((_, place) => (place % 2 === 0 ? "user" : "assistant")));
      }
      const shown = pieces.map((piece) => JSON.stringify(piece));
      const called = shown.findIndex((piece) => /"(?:tool_use|function_call|functionCall|tool_calls)"/.test(piece));
      const result = shown.findIndex((piece) => piece.includes("was interrupted before its result"));
      expect(called).toBeGreaterThan(-1);
      expect(result).toBe(called + 1);
      expect(shown[0]).toMatch(/"role":"(?:user|system|developer)"/);
      expect((await agent.run("Well?", room))?.text).toBe("Fine again.");
      expect(JSON.stringify(readBody(server.requests[1]?.body ?? "").pieces.slice(0, pieces.length))).toBe(
        JSON.stringify(pieces),
      );
    });
  },
);

describe("what the provider may keep of a prompt", () => {
  const answers = [{ content: "One." }, { content: "Two." }, { content: "Three." }];
  const places = (body: string) => {
    const { system, messages } = JSON.parse(body);
    const marked = (parts: { cache_control?: unknown }[]) => parts.filter((part) => part.cache_control).length;
    return { system: marked(system), messages: messages.map(({ content }: never) => marked(content)) };
  };

  it("is marked for Anthropic: tools and system, the last turn, the last message", async () => {
    const server = await serve(...answers);
    const { agent } = await meet(server, providers[1] as (typeof providers)[number]);
    for (const text of ["a", "b", "c"]) await agent.run(text, room);
    expect(server.requests.map(({ body }) => places(body))).toEqual([
      { system: 1, messages: [1] },
      { system: 1, messages: [0, 1, 1] },
      { system: 1, messages: [0, 0, 0, 1, 1] },
    ]);
    expect(server.requests[2]?.body.match(/"cache_control":\{"type":"ephemeral"\}/g)).toHaveLength(3);
  });

  it.each(providers.filter(({ setting }) => !setting.startsWith("anthropic")))(
    "is not marked for $setting",
    async (provider) => {
      const server = await serve(...answers);
      const { agent } = await meet(server, provider);
      for (const text of ["a", "b", "c"]) await agent.run(text, room);
      expect(server.requests[2]?.body).not.toMatch(/cache_?control/i);
    },
  );
});

describe("a change of provider", () => {
  it.each(providers.flatMap((from) => providers.map((to) => ({ from, to }))).filter(({ from, to }) => from !== to))(
    "from $from.setting to $to.setting: the session goes on",
    async ({ from, to }) => {
      const server = await serve(
        { content: "Looking.", reasoning: "I should look.", toolCalls: [{ name: "current_time", arguments: "{}" }] },
        { content: "The first answer.", reasoning: "I have it." },
        { content: "The second answer." },
      );
      const before: AgentRoom = await meet(server, from);
      await before.agent.run("One", room);
      const after = await meet(server, to, { sessions: before.sessions });
      expect((await after.agent.run("Two", room))?.text).toBe("The second answer.");
      const body = server.requests[2]?.body ?? "";
      expect(body).toContain("The first answer.");
      expect(body).not.toContain("item_reference");
    },
  );
});
