import type { ThreadkeeperError } from "../errors.ts";
import type { Json } from "../session/plain-json.ts";
import type { SessionEvent } from "../session/session-event.ts";
import type { CoveredInput } from "../session/session-manager.ts";
import type { Usage } from "./usage.ts";

export type FinishReason = "stop" | "length" | "content-filter" | "step-limit" | "other";

/**
 * What happens in a run, as it happens. Every turn that starts ends with `turn-end` or `turn-failed`, unless its run was
 * taken away (a reset) or is left to another process (a shutdown): then the stream just ends.
 */
export type AgentEvent =
  | {
      readonly type: "turn-start";
      readonly turn: string;
      readonly replyTo: Json | undefined;
      readonly inputs: readonly CoveredInput[];
      /** It was begun by somebody who is gone: some of it may have been shown already. */
      readonly resumed?: true;
    }
  | { readonly type: "text-delta"; readonly turn: string; readonly text: string }
  | { readonly type: "tool-start"; readonly turn: string; readonly callId: string; readonly name: string }
  | {
      readonly type: "tool-end";
      readonly turn: string;
      readonly callId: string;
      readonly name: string;
      readonly failed: boolean;
    }
  | {
      readonly type: "turn-end";
      readonly turn: string;
      /** All that was said in this turn: the texts of its steps, in order, parted by a blank line. */
      readonly text: string;
      readonly finishReason: FinishReason;
      readonly usage: Usage;
      readonly steps: number;
    }
  | {
      readonly type: "turn-failed";
      readonly turn: string;
      readonly error: ThreadkeeperError;
      /** Short, random, and in the log beside the error: what a person quotes. */
      readonly reference: string;
    }
  | {
      /** Comes once in a session, behind a turn that was finished: the model no longer knows all of it word by word. */
      readonly type: "summarised";
      /** That turn. */
      readonly turn: string;
      readonly replyTo: Json | undefined;
      /** What it knows of the older part: a summary, or nothing, since none could be made. */
      readonly older: "summary" | "nothing";
    };

/**
 * A call came to nothing before any turn of it began: an unknown session, a full queue, a store that is down. The
 * only other thing that `stream` yields; nothing follows it.
 */
export interface CallFailed {
  readonly type: "call-failed";
  readonly error: ThreadkeeperError;
  /** Short, random, and in the log beside the error: what a person quotes. */
  readonly reference: string;
}

/** What a call comes to, once it is over. */
export interface AgentResult {
  readonly turn: string;
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly steps: number;
  /** The turn's own part of the conversation, its inputs first. */
  readonly events: readonly SessionEvent[];
}
