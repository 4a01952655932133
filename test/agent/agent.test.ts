import type { UserContent } from "ai";
import { describe, expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { agentRoom, drain, eventually, shape, transcript } from "../support/agent-room.ts";
import { forever, scriptedModel } from "../support/scripted-model.ts";

const ada = { id: "1", name: "Ada" };

describe("two calls on one session", () => {
  it("the second run's model call contains the first turn", async () => {
    const { agent, model } = await agentRoom([
      ["The deadline for Project Alpha is Dec 27."],
      ["Noted: half of it is done."],
    ]);
    await agent.run("Set the deadline for Project Alpha to Dec 27.", { sessionId: "room" });
    await agent.run("Update the progress.", { sessionId: "room" });

    expect(model.promptOf(1)).toMatch(
      /user: <said at="[^"]+">\nSet the deadline for Project Alpha to Dec 27\.\n<\/said>\nassistant: The deadline for Project Alpha is Dec 27\.\nuser: <said at="[^"]+">\nUpdate the progress\.\n<\/said>$/,
    );
    model.assertComplete();
  });

  it("a run gives back its text, its usage and its own events", async () => {
    const { agent } = await agentRoom([["Hello ", "there."], { parts: ["Again."], cachedTokens: 4, cacheWrites: 3 }]);
    await agent.run("Hi", { sessionId: "room", author: ada });
    const result = await agent.run("Hi again", { sessionId: "room", author: ada });
    expect(result).toMatchObject({
      text: "Again.",
      finishReason: "stop",
      steps: 1,
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 3 },
    });
    expect(result?.events.map(({ seq, message }) => [seq, message.role])).toEqual([
      [2, "user"],
      [3, "assistant"],
    ]);
  });
});

describe("a run without a session", () => {
  it("starts blank every time and saves nothing", async () => {
    const model = scriptedModel([["one"], ["two"]]);
    const agent = new Agent({ model });
    await agent.run("first words", { author: ada, replyTo: { channel: "7" } });
    await agent.run("second words");
    expect(model.promptOf(1)).not.toContain("first words");
  });

  it("tells its reply's place, its inputs and what happens, in order", async () => {
    const agent = new Agent({ model: scriptedModel([["one ", "two"]]) });
    const { events, result } = await drain(
      agent.stream("hello", { author: ada, eventId: "e1", replyTo: { channel: "7" } }),
    );
    expect(events[0]).toMatchObject({
      type: "turn-start",
      replyTo: { channel: "7" },
      inputs: [{ id: "e1", author: ada, replyTo: { channel: "7" } }],
    });
    expect(shape(events)).toEqual(["turn-start", 'text "one two"', "turn-end stop"]);
    expect(result?.events.map(({ id }) => id)[0]).toBe("e1");
  });

  it("shows what was said nearby, with its speakers", async () => {
    const model = scriptedModel([["yes"]]);
    await new Agent({ model }).run("Is it?", {
      author: ada,
      context: [{ id: "c1", author: { id: "2", name: "Ben" }, text: "It is raining." }],
    });
    expect(model.promptOf(0)).toContain('<overheard by="Ben" id="2">\nIt is raining.\n</overheard>\n<said by="Ada"');
  });
});

describe("input that cannot be run", () => {
  it.each([
    ["", "INPUT_INVALID"],
    [" \n ", "INPUT_INVALID"],
    [[], "INPUT_INVALID"],
    [[{ type: "text" as const, text: " " }], "INPUT_INVALID"],
    [[{ type: "image" as const, image: new Uint8Array([1]) }], "NOT_PLAIN_JSON"],
    [undefined as never, "INPUT_INVALID"],
    [5 as never, "INPUT_INVALID"],
    [[{ type: "bogus" }] as never, "INPUT_INVALID"],
    [[null] as never, "INPUT_INVALID"],
    [[{ type: "text", text: "look" }, { type: "image" }] as never, "INPUT_INVALID"],
    [[{ type: "file", data: "aGk=" }] as never, "INPUT_INVALID"],
    [[{ type: "text", text: "look", providerOptions: { openai: "x" } }] as never, "INPUT_INVALID"],
    [[{ type: "image" as const, image: "no base 64" }], "INPUT_INVALID"],
    [[{ type: "image" as const, image: "data:image/png" }], "INPUT_INVALID"],
    [[{ type: "file" as const, data: "data:,hello", mediaType: "text/plain" }], "INPUT_INVALID"],
  ])("%j is refused before any turn", async (input, code) => {
    const { agent, model, sessions } = await agentRoom([]);
    for (const options of [{}, { sessionId: "room" }]) {
      const { events } = await drain(agent.stream(input, options));
      expect(shape(events)).toEqual([`call-failed ${code}`]);
      await expect(agent.run(input, options)).rejects.toMatchObject({ code });
    }
    expect(model.calls).toEqual([]);
    expect(await transcript(sessions)).toEqual([]);
  });

  it.each([
    ["an author without a name", { author: { id: "1" } }],
    ["something overheard without a text", { context: [{ id: "c", author: ada }] }],
    ["an empty id", { eventId: "" }],
  ])("nor %s, with a session or without", async (_what, wrong) => {
    const { agent, model, sessions } = await agentRoom([]);
    for (const options of [{}, { sessionId: "room" }]) {
      await expect(agent.run("hi", { ...options, ...wrong } as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    expect(model.calls).toEqual([]);
    expect(await transcript(sessions)).toEqual([]);
  });

  it("what can be shown is taken: texts, files by value, and links, which are not followed", async () => {
    const { agent, model } = await agentRoom([["seen"]]);
    const data = "aGVsbG8=";
    const parts: UserContent = [
      { type: "text", text: "look" },
      { type: "image", image: data },
      { type: "image", image: `data:image/png;base64,${data}` },
      { type: "file", data, mediaType: "text/plain", filename: "hello.txt" },
      { type: "image", image: "https://example.com/x.png" },
    ];
    expect((await agent.run(parts, { sessionId: "room" }))?.text).toBe("seen");
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain("example.com");
  });

  it("names the path of what is not plain JSON", async () => {
    const { agent } = await agentRoom([]);
    const replyTo = { when: new Date() } as never;
    await expect(agent.run("hi", { replyTo })).rejects.toThrow("input.replyTo.when");
  });
});

describe("sessions that are not there", () => {
  it("an unknown session is a typed error, never a blank start", async () => {
    const { agent, model, sessions } = await agentRoom([]);
    await expect(agent.run("hi", { sessionId: "nobody" })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    const { events, result } = await drain(agent.stream("hi", { sessionId: "nobody" }));
    expect(shape(events)).toEqual(["call-failed SESSION_NOT_FOUND"]);
    expect(result).toBeUndefined();
    expect(await sessions.get("nobody")).toBeUndefined();
    expect(model.calls).toEqual([]);
  });

  it("is made on request", async () => {
    const { agent, sessions } = await agentRoom([["Welcome."]]);
    await agent.run("hi", { sessionId: "new", create: true });
    expect(await transcript(sessions, "new")).toEqual(["user: hi", "assistant: Welcome."]);
  });

  it("a session id is an error for an agent that has no sessions", async () => {
    const agent = new Agent({ model: scriptedModel([]) });
    await expect(agent.run("hi", { sessionId: "room" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const { events } = await drain(agent.resume("room"));
    expect(shape(events)).toEqual(["call-failed INPUT_INVALID"]);
  });
});

describe("stopping", () => {
  it("keeps what was said so far, and the next run sees it", async () => {
    const { agent, model, sessions } = await agentRoom([["It is ", "raining", forever], ["ok"]]);
    const stop = new AbortController();
    const stream = agent.stream("Weather?", { sessionId: "room", signal: stop.signal });
    await stream.next();
    await stream.next();
    await stream.next();
    const rest = drain(stream);
    stop.abort(new ThreadkeeperError("RUN_STOPPED", "stopped"));
    expect(shape((await rest).events)).toEqual(["turn-failed RUN_STOPPED"]);
    expect(await transcript(sessions)).toEqual(["user: Weather?", "assistant: It is raining"]);
    expect(model.abandoned).toBe(1);
    await agent.run("And now?", { sessionId: "room" });
    expect(model.promptOf(1)).toContain("assistant: It is raining");
  });

  it("a plain abort is a stop too, and one before anything was said leaves no answer", async () => {
    const { agent, model, sessions } = await agentRoom([[forever]]);
    const stop = new AbortController();
    const run = agent.run("Weather?", { sessionId: "room", signal: stop.signal });
    await eventually(() => expect(model.calls).toHaveLength(1));
    stop.abort();
    await expect(run).rejects.toMatchObject({ code: "RUN_STOPPED" });
    expect(await transcript(sessions)).toEqual(["user: Weather?"]);
  });

  it("a run whose signal is aborted already is not begun", async () => {
    const { agent, model, sessions } = await agentRoom([]);
    await expect(agent.run("hi", { sessionId: "room", signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "RUN_STOPPED",
    });
    expect(await transcript(sessions)).toEqual([]);
    expect(model.calls).toEqual([]);
  });
});
