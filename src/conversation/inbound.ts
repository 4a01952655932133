import type { Json } from "../session/plain-json.ts";
import type { Author, ContextMessage } from "../session/session-event.ts";

/** Everything that comes in, whatever the platform: converted once, at the edge. */
export type Inbound = {
  /** The platform's id of what happened; the same id is never answered twice. */
  readonly id: string;
  readonly sessionId: string;
  readonly author: Author;
  /** Where the answer goes; opaque outside of the platform's folder. */
  readonly replyTo: Json;
  /** Everything that the session lies in (a channel, a server), so that it is found and forgotten with them. */
  readonly places: readonly string[];
} & (
  | { readonly kind: "message"; readonly text: string; readonly attachments: readonly AttachmentNote[] }
  /** `privileged`: this member may do it whoever asked (checked by the platform's side, at this moment). */
  | { readonly kind: "reset"; readonly privileged: boolean }
  | { readonly kind: "stop"; readonly privileged: boolean }
  | { readonly kind: "undo"; readonly privileged: boolean }
  /** Its `prepare` opens the place of the new session, and names it. */
  | { readonly kind: "fork"; readonly privileged: boolean }
);

export type InboundOf<Kind extends Inbound["kind"]> = Extract<Inbound, { readonly kind: Kind }>;

/** Whether there is nothing in a message that could be answered. */
export function saysNothing({ text, attachments }: Pick<InboundOf<"message">, "text" | "attachments">): boolean {
  return /^[\s\p{Cc}\p{Cf}]*$/u.test(text) && attachments.length === 0;
}

/** What is known of a file that came with a message. */
export interface AttachmentNote {
  readonly name: string;
  readonly mediaType: string | undefined;
  readonly bytes: number;
}

/** What slow preparation found out; runs after the place in the order is fixed and before the turn is taken. */
export interface Prepared {
  /**
   * Replaces the inbound's, if the turn belongs to another session (that of the channel in which it has to be answered).
   * No turn of that session may itself be moved: its place there is taken while its place in the inbound's is held.
   */
  readonly sessionId?: string;
  /** Replaces the inbound's, if the answer goes elsewhere (a thread that could not be opened). */
  readonly replyTo?: Json;
  /** What was said around the conversation, oldest first. What the session already knows is left out by id. */
  readonly context?: readonly ContextMessage[];
}

/** Opens the thread, reads what was said before. A throw means that no turn is taken: it becomes a notice. */
export type Prepare = (signal: AbortSignal) => Promise<Prepared>;
