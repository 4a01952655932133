import type { LanguageModelV3, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { type FinishReason, jsonSchema, type ModelMessage, streamText, type ToolSet } from "ai";
import type { Logger } from "../log.ts";
import { abortReason, raceAbort } from "./abort-race.ts";
import { withCacheBreakpoints } from "./cache-breakpoints.ts";
import { modelError } from "./model-error.ts";
import type { CheckedTool } from "./tool.ts";
import type { Usage } from "./usage.ts";

// The SDK prints warnings to the console unless told otherwise; we log them. An application's own choice stands.
globalThis.AI_SDK_LOG_WARNINGS ??= false;

/** All that a model call needs besides the conversation. */
export interface ModelPlan {
  readonly model: LanguageModelV3;
  readonly instructions: string;
  readonly tools: ReadonlyMap<string, CheckedTool>;
  readonly maxOutputTokens: number;
  /** How often the SDK repeats a call that failed before its first word. */
  readonly maxRetries: number;
  readonly providerOptions: SharedV3ProviderOptions;
  readonly log: Logger;
}

export interface StepOptions {
  readonly toolChoice: "auto" | "none";
  readonly signal: AbortSignal;
  /** No later call begins like this one, so that nothing of it is worth keeping. */
  readonly once?: boolean;
}

/** A piece of the answer as it comes, or, last, the answer. */
export type ModelPart = { readonly type: "text"; readonly text: string } | ModelAnswer;

export interface ModelAnswer {
  readonly type: "answer";
  /** The assistant's message, and results that the SDK gave itself for calls that cannot be read. */
  readonly messages: readonly ModelMessage[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

/**
 * One call of the model: yields its text as it comes, and last the whole answer. Tools are only described to the SDK,
 * never run by it.
 * @throws ThreadkeeperError the signal's reason at once when it is aborted, or `MODEL_…`
 */
export async function* modelStep(
  plan: ModelPlan,
  messages: ModelMessage[],
  { toolChoice, signal, once = false }: StepOptions,
): AsyncGenerator<ModelPart, void> {
  if (signal.aborted) throw abortReason(signal);
  const call = new AbortController();
  const result = streamText({
    model: plan.model,
    ...(once
      ? { system: plan.instructions, messages }
      : withCacheBreakpoints(plan.model.provider, plan.instructions, messages)),
    tools: describeTools(plan.tools),
    toolChoice,
    maxOutputTokens: plan.maxOutputTokens,
    maxRetries: plan.maxRetries,
    providerOptions: plan.providerOptions,
    abortSignal: AbortSignal.any([signal, call.signal]),
    experimental_include: { requestBody: false },
    // Without it the SDK prints the whole request. The error itself comes as a part of the stream.
    onError: () => {},
  });
  const reader = result.fullStream.getReader();
  try {
    let end: Omit<ModelAnswer, "type" | "messages"> | undefined;
    for (;;) {
      const { done, value: part } = await raceAbort(reader.read(), signal);
      if (done) break;
      if (part.type === "text-delta") {
        if (part.text !== "") yield { type: "text", text: part.text };
      } else if (part.type === "start-step") {
        for (const warning of part.warnings) plan.log.debug({ warning }, "the model's provider warns");
      } else if (part.type === "error") {
        throw part.error;
      } else if (part.type === "finish-step") {
        const { inputTokens = 0, outputTokens = 0, inputTokenDetails } = part.usage;
        const { cacheReadTokens: cachedInputTokens = 0, cacheWriteTokens = 0 } = inputTokenDetails;
        const usage = { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens };
        end = { finishReason: part.finishReason, usage };
      }
    }
    if (!end || end.finishReason === "error") throw new Error("the model's answer broke off");
    const response = await raceAbort(result.response, signal);
    yield { type: "answer", ...end, messages: response.messages };
  } catch (error) {
    throw modelError(error, plan.model);
  } finally {
    // However it is left, also by a consumer that stops pulling: the provider need not go on.
    call.abort();
    reader.cancel().catch(() => {});
  }
}

function describeTools(tools: ReadonlyMap<string, CheckedTool>): ToolSet {
  return Object.fromEntries(
    Array.from(tools, ([name, { tool, inputSchema }]) => [
      name,
      { description: tool.description, inputSchema: jsonSchema(inputSchema as object) },
    ]),
  );
}
