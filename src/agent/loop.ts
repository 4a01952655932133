import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolResultPart } from "ai";
import { hasCode, ThreadkeeperError } from "../errors.ts";
import type { AgentEvent, AgentResult, FinishReason } from "./agent-event.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { stepLimitError } from "./model-error.ts";
import { type ModelAnswer, type ModelPart, type ModelPlan, modelStep } from "./model-step.ts";
import type { ModelWindow } from "./model-window.ts";
import { callTool } from "./tool-call.ts";
import { parting, storedText } from "./turn-text.ts";
import { addUsage, noUsage } from "./usage.ts";

export interface LoopPlan extends ModelPlan {
  /** Model calls in a turn, at most. The last may not call tools, so that it ends with an answer. */
  readonly maxSteps: number;
}

export interface LoopControl {
  readonly signal: AbortSignal;
  readonly window: ModelWindow;
  /** Called wherever what has happened must not be lost: before tools are run, and after. */
  save(): Promise<void>;
}

export type Answer = Omit<AgentResult, "turn" | "events">;
type Progress = Extract<AgentEvent, { type: "text-delta" | "tool-start" | "tool-end" }>;

const noAnswer: ModelAnswer = {
  type: "answer",
  messages: [],
  finishReason: "other",
  usage: noUsage,
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
  for (let steps = before.steps + 1; ; steps += 1) {
    const last = steps >= plan.maxSteps && plan.tools.size > 0;
    let answer = noAnswer;
    for await (const part of askWithin(context, plan, last ? "none" : "auto", control)) {
      if (part.type === "answer") {
        answer = part;
        control.window.measured(answer.usage);
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
 * One step with as much of the conversation as the model takes. Where it says that this is too long, it is shown less,
 * down to the newest turn: a thread must not come to be dead for good.
 */
async function* askWithin(
  { events }: ExecutionContext,
  plan: LoopPlan,
  toolChoice: "auto" | "none",
  { window, signal }: LoopControl,
): AsyncGenerator<ModelPart, void> {
  for (;;) {
    let begun = false;
    try {
      for await (const part of modelStep(plan, window.show(events), { toolChoice, signal })) {
        begun = true;
        yield part;
      }
      return;
    } catch (error) {
      if (begun || !hasCode(error, "MODEL_INPUT_TOO_LONG") || !window.shrink(events)) throw error;
      plan.log.warn(error.fields, "the model is shown less of the conversation");
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
