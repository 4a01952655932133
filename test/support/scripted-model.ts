import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";

/** Never settles, and does not heed the signal either: a hung provider. */
export const forever: Promise<never> = new Promise(() => {});

export interface ScriptedCall {
  readonly tool: string;
  /** An object, or a text that is no JSON. */
  readonly input: unknown;
  readonly id?: string;
}

/**
 * What happens in one model call, in order: a piece of text, a tool call, something to wait for, or a failure (as the
 * first part it is a refused request, later a stream that breaks).
 */
export type ScriptedPart = string | ScriptedCall | Promise<unknown> | Error;

type Finish = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
export type ScriptedStep =
  | readonly ScriptedPart[]
  | {
      readonly parts: readonly ScriptedPart[];
      readonly finish?: Finish;
      /** Default 10. */
      readonly inputTokens?: number;
      readonly cachedTokens?: number;
      readonly cacheWrites?: number;
    };

export interface ScriptedModel extends LanguageModelV3 {
  /** Every call that was made, oldest first. */
  readonly calls: readonly LanguageModelV3CallOptions[];
  /** What the n-th call was given, as readable text: one line per part, each with its role. */
  promptOf(call: number): string;
  /** Streams that were cancelled or whose signal was aborted before they ended. */
  readonly abandoned: number;
  /** Throws unless every step was used. */
  assertComplete(): void;
}

/** A model that plays one step per call. A call that is not in the script is an error. 10 tokens in, 5 out. */
export function scriptedModel(steps: readonly ScriptedStep[], id = "scripted"): ScriptedModel {
  const calls: LanguageModelV3CallOptions[] = [];
  let abandoned = 0;

  async function* play(step: ScriptedStep, number: number): AsyncGenerator<LanguageModelV3StreamPart, void> {
    const {
      parts,
      finish,
      inputTokens = 10,
      cachedTokens = 0,
      cacheWrites = 0,
    } = "parts" in step ? step : { parts: step };
    let called = false;
    let texts = 0;
    yield { type: "stream-start", warnings: [] };
    for (const [place, part] of parts.entries()) {
      if (part instanceof Promise) await part;
      else if (part instanceof Error) {
        yield { type: "error", error: part };
        return;
      } else if (typeof part === "string") {
        if (typeof parts[place - 1] !== "string") yield { type: "text-start", id: `text-${++texts}` };
        yield { type: "text-delta", id: `text-${texts}`, delta: part };
        if (typeof parts[place + 1] !== "string") yield { type: "text-end", id: `text-${texts}` };
      } else {
        called = true;
        const toolCallId = part.id ?? `call-${number}-${place}`;
        const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input);
        yield { type: "tool-call", toolCallId, toolName: part.tool, input };
      }
    }
    yield {
      type: "finish",
      finishReason: { unified: finish ?? (called ? "tool-calls" : "stop"), raw: undefined },
      usage: {
        inputTokens: {
          total: inputTokens,
          noCache: inputTokens - cachedTokens - cacheWrites,
          cacheRead: cachedTokens,
          cacheWrite: cacheWrites,
        },
        outputTokens: { total: 5, text: undefined, reasoning: undefined },
      },
    };
  }

  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: id,
    supportedUrls: {},
    calls,
    get abandoned() {
      return abandoned;
    },
    async doGenerate() {
      throw new Error("the scripted model only streams");
    },
    async doStream(options) {
      const { abortSignal, ...given } = options;
      const number = calls.push(structuredClone(given)) - 1;
      const step = steps[number];
      if (!step) throw new Error(`call ${number + 1} of the model is not in the script`);
      const [first] = "parts" in step ? step.parts : step;
      if (first instanceof Error) throw first;
      const stream = play(step, number);
      let open = true;
      const abandon = () => {
        if (open) abandoned += 1;
        open = false;
      };
      abortSignal?.addEventListener("abort", abandon, { once: true });
      return {
        stream: new ReadableStream({
          async pull(controller) {
            const { done, value } = await stream.next();
            if (!done) return controller.enqueue(value);
            open = false;
            controller.close();
          },
          cancel: abandon,
        }),
      };
    },
    promptOf(call) {
      return (calls[call]?.prompt ?? [])
        .flatMap(({ role, content }) =>
          typeof content === "string" ? [`${role}: ${content}`] : content.map((part) => `${role}: ${describe(part)}`),
        )
        .join("\n");
    },
    assertComplete() {
      if (calls.length !== steps.length) {
        throw new Error(`${steps.length} calls of the model are in the script, and ${calls.length} were made`);
      }
    },
  };
}

function describe(part: object): string {
  if ("text" in part) return String(part.text);
  const { providerOptions: _, ...rest } = part as Record<string, unknown>;
  return JSON.stringify(rest);
}
