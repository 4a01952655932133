import type { ModelMessage } from "ai";

/** Who said something. `id` is the platform's, and is what rights and erasure go by; `name` is only for reading. */
export interface Author {
  readonly id: string;
  readonly name: string;
}

/** Something said near a conversation, by somebody who was not talking to the agent: data, never instructions. */
export interface ContextMessage {
  readonly id: string;
  readonly author: Author;
  readonly text: string;
}

/**
 * One entry of a conversation: our envelope around the AI SDK's message, which is kept whole, because providers need
 * their own metadata back (https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message).
 */
export interface SessionEvent {
  /** Unique in its session. For an input it is the input's own id (a Discord message id), so nothing counts twice. */
  readonly id: string;
  /** Place in the session, from 0 and without gaps; absent until saved. Order never comes from a clock. */
  readonly seq?: number;
  /** When it happened, ISO 8601 in UTC; for people only. */
  readonly at: string;
  /** The turn it belongs to. */
  readonly turn: string;
  /** Set on what people said. */
  readonly author?: Author;
  /** What was said between the last turn and this input, oldest first. */
  readonly context?: readonly ContextMessage[];
  /** The words were taken out: its message is empty, and all that is left is that somebody said something here. */
  readonly erased?: true;
  readonly message: ModelMessage;
}
