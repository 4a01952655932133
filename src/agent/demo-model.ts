import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from "@ai-sdk/provider";
import { type DemoAnswer, demoAnswer } from "./demo-answer.ts";

/**
 * A model in this process, without a network and without knowledge: it says that it is a demo, and answers with what
 * in the conversation it is given is closest to the question, by whom and when. So memory can be seen to work, on any
 * text. Streams word by word; counts words as tokens.
 */
export function demoModel({ wordDelayMs = 10 }: { readonly wordDelayMs?: number } = {}): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "demo",
    modelId: "demo",
    supportedUrls: {},
    doGenerate: async (options) => {
      const answer = demoAnswer(options);
      return {
        content: [answer.kind === "text" ? { type: "text", text: answer.text } : toolCall(answer)],
        ...ending(options, answer),
        warnings: [],
      };
    },
    doStream: async (options) => {
      const parts = streamParts(options, wordDelayMs);
      return {
        stream: new ReadableStream({
          async pull(controller) {
            const { done, value } = await parts.next();
            if (done) controller.close();
            else controller.enqueue(value);
          },
        }),
      };
    },
  };
}

async function* streamParts(
  options: LanguageModelV3CallOptions,
  wordDelayMs: number,
): AsyncGenerator<LanguageModelV3StreamPart, void> {
  const answer = demoAnswer(options);
  yield { type: "stream-start", warnings: [] };
  if (answer.kind === "call") {
    yield toolCall(answer);
  } else {
    yield { type: "text-start", id: "1" };
    for (const delta of answer.text.match(/\S+\s*/g) ?? []) {
      if (wordDelayMs > 0) await delay(wordDelayMs, undefined, { signal: options.abortSignal });
      yield { type: "text-delta", id: "1", delta };
    }
    yield { type: "text-end", id: "1" };
  }
  yield { type: "finish", ...ending(options, answer) };
}

function toolCall({ toolName, input }: DemoAnswer & { kind: "call" }) {
  return { type: "tool-call" as const, toolCallId: randomUUID(), toolName, input };
}

function ending({ prompt }: LanguageModelV3CallOptions, answer: DemoAnswer) {
  const usage: LanguageModelV3Usage = {
    inputTokens: {
      total: countWords(JSON.stringify(prompt)),
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
    },
    outputTokens: {
      total: countWords(answer.kind === "text" ? answer.text : answer.input),
      text: undefined,
      reasoning: undefined,
    },
  };
  const unified = answer.kind === "text" ? ("stop" as const) : ("tool-calls" as const);
  return { usage, finishReason: { unified, raw: undefined } };
}

function countWords(text: string): number {
  return text.split(/\s+/).length;
}
