import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolResultPart } from "ai";
import { hasCode, ThreadkeeperError } from "../errors.ts";
import type { AgentEvent, AgentResult, FinishReason, Usage } from "./agent-event.ts";
import { cutAtTurn, showEvents, sizeOf } from "./context-window.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { stepLimitError } from "./model-error.ts";
import { type ModelAnswer, type ModelPart, type ModelPlan, modelStep } from "./model-step.ts";
import { callTool } from "./tool-call.ts";
import { parting, storedText } from "./turn-text.ts";

export interface LoopPlan extends ModelPlan {
  /** Model calls in a turn, at most. The last may not call tools, so that it ends with an answer. */
  readonly maxSteps: number;
  /** How much of the conversation the model is shown, in bytes of its events. */
  readonly windowBytes: number;
}

export interface LoopControl {
  readonly signal: AbortSignal;
  /** Called wherever what has happened must not be lost: before tools are run, and after. */
  save(): Promise<void>;
}

export type Answer = Omit<AgentResult, "turn" | "events">;
type Progress = Extract<AgentEvent, { type: "text-delta" | "tool-start" | "tool-end" }>;

const noAnswer: ModelAnswer = {
  type: "answer",
  messages: [],
  finishReason: "other",
  usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
};

/**
 * Asks the model, runs the tools that it calls, and asks again until it has answered. Knows nothing of sessions. The
 * answer's text is exactly the deltas put together, and its last event is in the context, not yet saved. What the
 * context already holds of the turn, since it was begun elsewhere, is said first, and its steps count.
 * @throws ThreadkeeperError; the context then holds what was completed
 */
export async function* runLoop(
  context: ExecutionContext,
  plan: LoopPlan,
  control: LoopControl,
): AsyncGenerator<Progress, Answer> {
  const { turn } = context;
  const before = storedText(context.events, turn);
  let { text } = before;
  if (text !== "") yield { type: "text-delta", turn, text };
  let { usage } = noAnswer;
  const window = { bytes: plan.windowBytes };
  for (let steps = before.steps + 1; ; steps += 1) {
    const last = steps >= plan.maxSteps && plan.tools.size > 0;
    let answer = noAnswer;
    for await (const part of askWithin(window, context, plan, last ? "none" : "auto", control.signal)) {
      if (part.type === "answer") {
        answer = part;
        continue;
      }
      const delta = text !== "" && context.unfinishedText === "" ? parting + part.text : part.text;
      context.unfinishedText += part.text;
      text += delta;
      yield { type: "text-delta", turn, text: delta };
    }
    usage = addUsage(usage, answer.usage);
    const calls = callsOf(answer.messages);
    if (calls.length === 0) {
      const finishReason = last && steps > 1 ? "step-limit" : finishReasonOf(answer);
      if (text.trim() === "") throw emptyAnswer(finishReason);
      addAll(context, answer.messages);
      return { text, finishReason, usage, steps };
    }
    addAll(context, answer.messages);
    await control.save();
    if (yield* runTools(context, plan, control, calls, answer.messages)) await control.save();
  }
}

/**
 * One step with as much of the conversation as the model takes. Where it says that this is too long, the window is
 * halved, down to the newest turn: a thread must not come to be dead for good.
 */
async function* askWithin(
  window: { bytes: number },
  { events }: ExecutionContext,
  plan: LoopPlan,
  toolChoice: "auto" | "none",
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  for (;;) {
    const shown = cutAtTurn(events, window.bytes);
    let begun = false;
    try {
      for await (const part of modelStep(plan, showEvents(shown), { toolChoice, signal })) {
        begun = true;
        yield part;
      }
      return;
    } catch (error) {
      const isNewestTurn = shown.length === cutAtTurn(events, 0).length;
      if (begun || isNewestTurn || !hasCode(error, "MODEL_INPUT_TOO_LONG")) throw error;
      window.bytes = Math.floor(shown.reduce((sum, event) => sum + sizeOf(event), 0) / 2);
      plan.log.warn({ ...error.fields, windowBytes: window.bytes }, "the model is shown less of the conversation");
    }
  }
}

/**
 * Runs the calls that have no result yet, one after the other: what one tool changes, the next may rely on. Results
 * become an event also when the run is aborted between two of them. Whether anything was run.
 */
async function* runTools(
  context: ExecutionContext,
  plan: LoopPlan,
  { signal }: LoopControl,
  calls: readonly ToolCallPart[],
  messages: readonly ModelMessage[],
): AsyncGenerator<Progress, boolean> {
  const { turn, author } = context;
  const answered = new Set(resultsOf(messages).map(({ toolCallId }) => toolCallId));
  const results: ToolResultPart[] = [];
  try {
    for (const { toolCallId, toolName: name, input } of calls) {
      yield { type: "tool-start", turn, callId: toolCallId, name };
      let failed = true;
      // A call that the SDK could not read has its result from the SDK already.
      if (!answered.has(toolCallId)) {
        const output = await callTool(plan.tools.get(name)?.tool, input, {
          signal,
          author,
          state: context.state,
          setState: (next) => {
            context.state = next;
          },
        });
        results.push({ type: "tool-result", toolCallId, toolName: name, output });
        failed = output.type === "error-text";
      }
      yield { type: "tool-end", turn, callId: toolCallId, name, failed };
    }
  } finally {
    if (results.length > 0) context.addEvent({ role: "tool", content: results });
  }
  return results.length > 0;
}

function addAll(context: ExecutionContext, messages: readonly ModelMessage[]): void {
  for (const message of messages) context.addEvent(message);
  context.unfinishedText = "";
}

function partsOf(messages: readonly ModelMessage[]): Exclude<AssistantModelMessage["content"], string> {
  return messages.flatMap(({ role, content }) => (role === "assistant" && typeof content !== "string" ? content : []));
}

function callsOf(messages: readonly ModelMessage[]): ToolCallPart[] {
  return partsOf(messages).filter((part) => part.type === "tool-call" && !part.providerExecuted) as ToolCallPart[];
}

function resultsOf(messages: readonly ModelMessage[]): ToolResultPart[] {
  const parts = messages.flatMap((message) => (message.role === "tool" ? message.content : []));
  return parts.filter((part) => part.type === "tool-result");
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  };
}

function finishReasonOf({ finishReason }: ModelAnswer): FinishReason {
  return finishReason === "stop" || finishReason === "length" || finishReason === "content-filter"
    ? finishReason
    : "other";
}

function emptyAnswer(finishReason: FinishReason): ThreadkeeperError {
  if (finishReason === "step-limit") return stepLimitError();
  return new ThreadkeeperError("MODEL_EMPTY_ANSWER", `the model gave an empty answer (${finishReason})`, {
    fields: { finishReason },
  });
}
