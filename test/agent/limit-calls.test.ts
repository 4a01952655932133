import type { LanguageModelV3, LanguageModelV3StreamResult } from "@ai-sdk/provider";
import { generateText } from "ai";
import { describe, expect, it, vi } from "vitest";
import { limitCalls } from "../../src/agent/limit-calls.ts";
import { agentRoom, eventually } from "../support/agent-room.ts";
import { forever, type ScriptedStep, scriptedModel } from "../support/scripted-model.ts";

const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];

function limited(limit: number, steps: readonly ScriptedStep[]) {
  const inner = scriptedModel(steps);
  const model = limitCalls(inner, limit);
  const call = (abortSignal?: AbortSignal) => model.doStream({ prompt, ...(abortSignal && { abortSignal }) });
  return { inner, model, call };
}

async function drain({ stream }: LanguageModelV3StreamResult): Promise<void> {
  for await (const _ of stream);
}

function made({ inner }: { inner: { calls: readonly unknown[] } }, calls: number): Promise<void> {
  return eventually(() => expect(inner.calls).toHaveLength(calls));
}

/** Lets everything that could happen at once happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("a model with a bound on its calls", () => {
  it("has at most so many under way, and the others come in their order", async () => {
    const all = limited(2, [["1"], ["2"], ["3"], ["4"]]);
    const streams = [all.call(), all.call(), all.call(), all.call()];
    await made(all, 2);
    await settle();
    expect(all.inner.calls).toHaveLength(2);
    await drain(await (streams[0] as (typeof streams)[0]));
    await made(all, 3);
    await settle();
    expect(all.inner.calls).toHaveLength(3);
    await drain(await (streams[2] as (typeof streams)[0]));
    await made(all, 4);
  });

  it.each([
    ["is refused", [new Error("no")]],
    ["breaks off", ["half", new Error("no")]],
  ])("a call that %s frees its place", async (_what, step) => {
    const all = limited(1, [step, ["next"]]);
    const first = all.call();
    const second = all.call();
    await Promise.allSettled([first.then(drain)]);
    await drain(await second);
    all.inner.assertComplete();
  });

  it("a stream that errors frees its place", async () => {
    let calls = 0;
    const inner: LanguageModelV3 = {
      ...scriptedModel([]),
      doStream: async () => {
        calls += 1;
        return {
          stream: new ReadableStream({
            pull(controller) {
              controller.error(new Error("torn"));
            },
          }),
        };
      },
    };
    const model = limitCalls(inner, 1);
    for (let count = 1; count <= 2; count += 1) {
      await expect(drain(await model.doStream({ prompt }))).rejects.toThrow("torn");
      expect(calls).toBe(count);
    }
  });

  it("a stream that is cancelled frees its place, and the provider is told", async () => {
    const all = limited(1, [["half", forever], ["next"]]);
    const { stream } = await all.call();
    const reader = stream.getReader();
    await reader.read();
    const second = all.call();
    await reader.cancel();
    await drain(await second);
    expect(all.inner.abandoned).toBe(1);
  });

  it("a hung call that is aborted frees its place, though its provider does not heed it", async () => {
    const hung: LanguageModelV3 = { ...scriptedModel([]), doStream: vi.fn(() => forever) };
    const model = limitCalls(hung, 1);
    for (let count = 1; count <= 2; count += 1) {
      const stop = new AbortController();
      const call = model.doStream({ prompt, abortSignal: stop.signal });
      await eventually(() => expect(hung.doStream).toHaveBeenCalledTimes(count));
      stop.abort(new Error("enough"));
      await expect(call).rejects.toThrow("enough");
    }
  });

  it("a call that is aborted while it waits is never made", async () => {
    const all = limited(1, [["one"], ["three"]]);
    const first = await all.call();
    const stop = new AbortController();
    const second = all.call(stop.signal);
    const third = all.call();
    stop.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    await expect(all.call(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
    await drain(first);
    await drain(await third);
    all.inner.assertComplete();
  });

  it("bounds calls without streaming too", async () => {
    let under = 0;
    let most = 0;
    const inner: LanguageModelV3 = {
      ...scriptedModel([]),
      async doGenerate() {
        most = Math.max(most, ++under);
        await settle();
        under -= 1;
        const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
        const usage = { inputTokens: none, outputTokens: { total: 1, text: undefined, reasoning: undefined } };
        return {
          content: [{ type: "text", text: "ok" }],
          finishReason: { unified: "stop", raw: undefined },
          usage,
          warnings: [],
        };
      },
    };
    const model = limitCalls(inner, 2);
    await Promise.all(Array.from({ length: 6 }, () => generateText({ model, prompt: "hi" })));
    expect(most).toBe(2);
  });

  it("lets an agent's sessions take turns at the model", async () => {
    const inner = scriptedModel(Array.from({ length: 6 }, (_, index) => [`answer ${index}`]));
    const { agent } = await agentRoom([], { model: limitCalls(inner, 1) });
    const runs = Array.from({ length: 6 }, (_, index) => agent.run("hi", { sessionId: `s${index}`, create: true }));
    const texts = (await Promise.all(runs)).map((result) => result?.text);
    expect(texts).toEqual(Array.from({ length: 6 }, (_, index) => `answer ${index}`));
  });
});
