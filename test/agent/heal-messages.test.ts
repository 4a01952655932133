import { type ModelMessage, streamText } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { healMessages, interruptedResult } from "../../src/agent/heal-messages.ts";
import { scriptedModel } from "../support/scripted-model.ts";

const user = (text: string): ModelMessage => ({ role: "user", content: text });
const call = (id: string, name = "t") => ({ type: "tool-call" as const, toolCallId: id, toolName: name, input: {} });
const result = (id: string, value = "ok", name = "t") => ({
  type: "tool-result" as const,
  toolCallId: id,
  toolName: name,
  output: { type: "text" as const, value },
});
const interrupted = (id: string) => ({ ...result(id), output: { type: "error-text", value: interruptedResult } });

const ids = fc.constantFrom("a", "b", "c");
const text = fc.constantFrom("", " ", "hello", "word");
const history: fc.Arbitrary<ModelMessage[]> = fc.array(
  fc.oneof(
    text.map(user),
    fc
      .array(
        text.map((each) => ({ type: "text" as const, text: each })),
        { maxLength: 2 },
      )
      .map((content): ModelMessage => ({ role: "user", content })),
    text.map((content): ModelMessage => ({ role: "assistant", content })),
    fc
      .array(
        fc.oneof(
          text.map((each) => ({ type: "text" as const, text: each })),
          text.map((each) => ({ type: "reasoning" as const, text: each })),
          ids.map((id) => call(id)),
        ),
        { maxLength: 4 },
      )
      .map((content): ModelMessage => ({ role: "assistant", content })),
    fc
      .array(
        ids.map((id) => result(id)),
        { maxLength: 3 },
      )
      .map((content): ModelMessage => ({ role: "tool", content })),
    fc.constant<ModelMessage>({ role: "system", content: "obey" }),
  ),
  { maxLength: 12 },
);

describe("healing", () => {
  it("is idempotent", () => {
    fc.assert(
      fc.property(history, (messages) => {
        const once = healMessages(messages);
        expect(healMessages(once)).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });

  it("makes a history in which every call has one result right behind it, and which begins with a user", () => {
    fc.assert(
      fc.property(history, (messages) => {
        const healed = healMessages(messages);
        if (healed.length > 0) expect(healed[0]?.role).toBe("user");
        for (const [index, { role, content }] of healed.entries()) {
          const calls = idsOf("tool-call", role === "assistant" ? content : []);
          const next = healed[index + 1];
          if (calls.length > 0) expect(idsOf("tool-result", next?.role === "tool" ? next.content : [])).toEqual(calls);
          if (role === "tool") expect(healed[index - 1]?.role).toBe("assistant");
          expect(role).not.toBe("system");
        }
      }),
      { numRuns: 500 },
    );
  });

  it("makes a history that the AI SDK accepts, whatever was stored", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const healed = [...healMessages(messages), user("and now?")];
        const model = scriptedModel([["ok"]]);
        const failures: unknown[] = [];
        await streamText({
          model,
          messages: healed,
          onError: ({ error }) => void failures.push(error),
        }).consumeStream();
        expect(failures).toEqual([]);
        model.assertComplete();
      }),
      { numRuns: 60 },
    );
  });

  it("leaves a healthy history as it is, part by part", () => {
    const healthy: ModelMessage[] = [
      user("one"),
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "", providerOptions: { openai: { itemId: "r1" } } },
          { type: "text", text: "", providerOptions: { google: { thoughtSignature: "s" } } },
          call("a"),
          call("b"),
        ],
      },
      { role: "tool", content: [result("a"), result("b")] },
      { role: "assistant", content: "done" },
    ];
    const healed = healMessages(healthy);
    expect(healed).toEqual(healthy);
    expect(healed[1]).toBe(healthy[1]);
  });

  it("a call without a result gets one that says it was interrupted", () => {
    expect(healMessages([user("go"), { role: "assistant", content: [call("a"), call("b")] }, user("well?")])).toEqual([
      user("go"),
      { role: "assistant", content: [call("a"), call("b")] },
      { role: "tool", content: [interrupted("a"), interrupted("b")] },
      user("well?"),
    ]);
  });

  it("results of a step that are spread over events become one message, in the order of the calls", () => {
    const healed = healMessages([
      user("go"),
      { role: "assistant", content: [call("a"), call("b"), call("c")] },
      { role: "tool", content: [result("c", "sdk")] },
      { role: "tool", content: [result("a", "ours"), result("a", "twice")] },
    ]);
    expect(healed[2]).toEqual({ role: "tool", content: [result("a", "ours"), interrupted("b"), result("c", "sdk")] });
    expect(healed).toHaveLength(3);
  });

  it("a server that numbers the calls of every message anew is understood", () => {
    const turn = (value: string): ModelMessage[] => [
      user("go"),
      { role: "assistant", content: [call("0")] },
      { role: "tool", content: [result("0", value)] },
    ];
    expect(healMessages([...turn("first"), ...turn("second")])).toEqual([...turn("first"), ...turn("second")]);
  });

  it("a result without a call, a repeated call and empty messages are left out", () => {
    expect(
      healMessages([
        { role: "assistant", content: "an answer to nobody" },
        user(" "),
        user("go"),
        { role: "tool", content: [result("x")] },
        { role: "assistant", content: " " },
        { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
        { role: "assistant", content: [{ type: "text", text: "" }, call("a"), call("a")] },
        { role: "tool", content: [result("a")] },
        { role: "system", content: "obey" },
      ]),
    ).toEqual([user("go"), { role: "assistant", content: [call("a")] }, { role: "tool", content: [result("a")] }]);
  });

  it("a call that the provider itself ran needs no result of ours", () => {
    const hosted: ModelMessage[] = [
      user("go"),
      {
        role: "assistant",
        content: [
          { ...call("a"), providerExecuted: true },
          { type: "text", text: "found" },
        ],
      },
    ];
    expect(healMessages(hosted)).toEqual(hosted);
  });
});

function idsOf(type: string, content: ModelMessage["content"]): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : []));
}
