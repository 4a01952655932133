import { type ErrorCode, ThreadkeeperError } from "../errors.ts";
import type { JsonObject } from "../session/plain-json.ts";
import type { CoveredInput, TurnEnd } from "../session/session-manager.ts";
import type { AgentEvent, FinishReason } from "./agent-event.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { storedText } from "./turn-text.ts";
import { noUsage, type Usage } from "./usage.ts";
import type { Outcome } from "./waiting-calls.ts";

/** All of an answer that its events don't hold. */
interface Answered {
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly steps: number;
}

/** What is stored of how a turn ended, so that it can be shown again: no word of the conversation or of a provider. */
export function answeredEnd({ finishReason, usage, steps }: Answered): TurnEnd {
  return { finishReason, usage: { ...usage }, steps };
}

export function failedEnd({ code }: ThreadkeeperError, reference: string): TurnEnd {
  return { code, reference };
}

/** A turn that is complete in the store. */
export interface EndedTurn {
  readonly context: ExecutionContext;
  readonly inputs: readonly CoveredInput[];
  readonly ended: TurnEnd;
  settle(outcome: Outcome): void;
}

/**
 * Tells how a turn ended whose process went away before that was shown for certain. The model is not asked; of a
 * failed turn, the part that was kept is said first. Only once its end is pulled has it been told: left before, it is
 * told again by whoever comes next.
 */
export async function* tellAgain({ context, inputs, ended, settle }: EndedTurn): AsyncGenerator<AgentEvent, void> {
  const { turn, events } = context;
  const { text } = storedText(events, turn);
  yield { type: "turn-start", turn, replyTo: inputs.at(-1)?.replyTo, inputs, resumed: true };
  if (typeof ended["code"] === "string") {
    if (text !== "") yield { type: "text-delta", turn, text };
    const code = ended["code"] as ErrorCode;
    const error = new ThreadkeeperError(code, "the turn failed, and its process went away before that was shown");
    settle({ error });
    yield { type: "turn-failed", turn, error, reference: String(ended["reference"]) };
  } else {
    const answer = { text, ...readAnswered(ended) };
    settle({ result: { turn, ...answer, events: events.filter((event) => event.turn === turn) } });
    yield { type: "turn-end", turn, ...answer };
  }
}

function readAnswered(ended: JsonObject): Answered {
  const { finishReason, usage, steps } = ended as JsonObject & Partial<Answered>;
  return { finishReason: finishReason ?? "other", usage: { ...noUsage, ...usage }, steps: steps ?? 0 };
}
