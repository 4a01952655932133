import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { decodeUtterances } from "../../../src/agent/speaker-label.ts";

/** What a model says to what it is shown: at once, or piece by piece. A throw is a failing provider. */
export type Answer = (shown: Shown) => AsyncIterable<string> | Iterable<string> | Promise<string>;

/** One call, as readable text. */
export interface Shown {
  /** Everything, one line per part, each with its role. */
  readonly prompt: string;
  /** What was said in the turn that is to be answered: one text per message. */
  readonly questions: readonly string[];
  /** The number of the call, from 0. */
  readonly call: number;
}

export interface AnsweringModel extends LanguageModelV3 {
  /** Every call that was made, oldest first. */
  readonly shown: readonly Shown[];
}

/** A model in process that answers by a function, however many threads ask at once. */
export function answeringModel(answer: Answer): AnsweringModel {
  const shown: Shown[] = [];
  return {
    specificationVersion: "v3",
    provider: "test",
    modelId: "answering",
    supportedUrls: {},
    shown,
    async doGenerate() {
      throw new Error("this model only streams");
    },
    async doStream({ prompt }) {
      const given = read(prompt, shown.length);
      shown.push(given);
      const parts = play(answer(given));
      return {
        stream: new ReadableStream<LanguageModelV3StreamPart>({
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

async function* play(said: ReturnType<Answer>): AsyncGenerator<LanguageModelV3StreamPart, void> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "text" };
  // A string is one piece, not as many as it has letters.
  const pieces = said instanceof Promise ? [await said] : typeof said === "string" ? [said] : said;
  for await (const delta of pieces) yield { type: "text-delta", id: "text", delta };
  yield { type: "text-end", id: "text" };
  yield {
    type: "finish",
    finishReason: { unified: "stop", raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: undefined, reasoning: undefined },
    },
  };
}

function read(prompt: LanguageModelV3CallOptions["prompt"], call: number): Shown {
  const lines = prompt.flatMap(({ role, content }) =>
    typeof content === "string"
      ? [{ role, text: content }]
      : content.map((part) => ({ role, text: part.type === "text" ? part.text : JSON.stringify(part) })),
  );
  const answered = lines.findLastIndex(({ role }) => role === "assistant");
  const open = lines.slice(answered + 1).filter(({ role }) => role === "user");
  return {
    prompt: lines.map(({ role, text }) => `${role}: ${text}`).join("\n"),
    questions: open
      .flatMap(({ text }) => decodeUtterances(text))
      .filter(({ kind }) => kind === "said")
      .map(({ text }) => text),
    call,
  };
}
