import type { AgentEvent } from "../agent/agent-event.ts";
import type { ThreadkeeperError } from "../errors.ts";
import type { Json } from "../session/plain-json.ts";

/** The conversation's own words: what is said to a person outside of any turn. */
export type NoticeReason =
  | { readonly reason: "forgotten" }
  | { readonly reason: "nothing-to-forget" }
  | { readonly reason: "stopped" }
  /** The run of a stop belonged to nobody here: it was taken away. */
  | { readonly reason: "interrupted" }
  | { readonly reason: "nothing-to-stop" }
  /** A turn was taken back: `inputs` are the ids of what it answered, oldest first. */
  | { readonly reason: "undone"; readonly inputs: readonly string[] }
  | { readonly reason: "nothing-to-undo" }
  /** A new conversation began with this one's memory: where, as its `prepare` said. */
  | { readonly reason: "forked"; readonly to: Json }
  | { readonly reason: "nothing-to-fork" }
  | { readonly reason: "not-allowed"; readonly what: "reset" | "stop" | "undo" | "fork" }
  | { readonly reason: "nothing-said" }
  | { readonly reason: "queue-full"; readonly limit: number }
  | { readonly reason: "failed"; readonly error: ThreadkeeperError; readonly reference: string };

export type Notice = { readonly type: "notice"; readonly replyTo: Json } & NoticeReason;

/** Everything that a conversation gives out. */
export type TurnEvent = AgentEvent | Notice;
