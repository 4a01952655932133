import type { ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import { withCacheBreakpoints } from "../../src/agent/cache-breakpoints.ts";

const user = (content: string): ModelMessage => ({ role: "user", content });
const assistant = (content: string): ModelMessage => ({ role: "assistant", content });
const call: ModelMessage = {
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: "a", toolName: "t", input: {} }],
};
const result: ModelMessage = {
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "a", toolName: "t", output: { type: "text", value: "ok" } }],
};

/** The places of the messages that have a breakpoint. */
function marked(messages: ModelMessage[]): number[] {
  const prompt = withCacheBreakpoints("anthropic.messages", "Be brief.", messages);
  return prompt.messages.flatMap(({ providerOptions }, place) =>
    providerOptions?.["anthropic"]?.["cacheControl"] ? [place] : [],
  );
}

describe("cache breakpoints", () => {
  it("stand behind the system text, the last turn and the last message", () => {
    const prompt = withCacheBreakpoints("anthropic.messages", "Be brief.", [user("hi")]);
    expect(prompt.system).toEqual({
      role: "system",
      content: "Be brief.",
      providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
    });
    expect(marked([user("hi")])).toEqual([0]);
    expect(marked([user("hi"), assistant("hello"), user("and?")])).toEqual([1, 2]);
    expect(marked([user("hi"), assistant("hello"), user("failed"), user("and?")])).toEqual([1, 3]);
    expect(marked([])).toEqual([]);
  });

  it("stay behind the last turn while steps come", () => {
    const before = [user("hi"), assistant("hello"), user("look")];
    expect(marked([...before, call, result])).toEqual([1, 4]);
    expect(marked([...before, call, result, call, result])).toEqual([1, 6]);
  });

  it("keep what the provider had put into a message", () => {
    const signed = { ...assistant("hello"), providerOptions: { anthropic: { signature: "s" }, google: { x: 1 } } };
    const { messages } = withCacheBreakpoints("anthropic.messages", "", [user("hi"), signed, user("and?")]);
    expect(messages[1]?.providerOptions).toEqual({
      anthropic: { signature: "s", cacheControl: { type: "ephemeral" } },
      google: { x: 1 },
    });
    expect(signed.providerOptions.anthropic).toEqual({ signature: "s" });
  });

  it("are Anthropic's alone", () => {
    const messages = [user("hi")];
    const prompt = withCacheBreakpoints("openai.responses", "Be brief.", messages);
    expect(prompt).toEqual({ system: "Be brief.", messages });
    expect(prompt.messages).toBe(messages);
  });
});
