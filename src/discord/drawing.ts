import type { ReplyView } from "../reply/reply-view.ts";
import type { Place } from "./place.ts";
import type { RequestKind } from "./request-budget.ts";

/** One reply as it stands on Discord, beside the view that it shall become. */
export interface Drawing {
  readonly place: Place;
  /** The beginning of its messages' nonces: the turn, so that a turn taken up elsewhere posts nothing twice. */
  readonly nonce: string;
  view: ReplyView;
  /** Messages that were sent, in order. Without an id: somebody deleted it, and it stays deleted. */
  readonly messages: { id: string | undefined; content: string }[];
  /** When something of it was last sent or changed, in milliseconds since the epoch; 0: never. */
  drawnAt: number;
  /** Failed tries since the last success, and the earliest time of the next. */
  failures: number;
  notBefore: number;
}

/** The next single change that brings a drawing closer to its view. */
export type Step =
  | { readonly do: "send" | "edit"; readonly index: number; readonly content: string }
  | { readonly do: "remove"; readonly index: number };

/** In order, so that a reader never sees a later part before an earlier one; `undefined`: it is as it should be. */
export function nextStep({ view, messages }: Pick<Drawing, "view" | "messages">): Step | undefined {
  for (const [index, content] of view.chunks.entries()) {
    const message = messages[index];
    if (!message) return { do: "send", index, content };
    if (message.id !== undefined && message.content !== content) return { do: "edit", index, content };
  }
  const index = messages.length - 1;
  return index >= view.chunks.length ? { do: "remove", index } : undefined;
}

/** What kind of request a drawing's next step is, in the order of their urgency: final, first, progress. */
export function urgency({ view, messages }: Pick<Drawing, "view" | "messages">): Exclude<RequestKind, "typing"> {
  if (view.finished) return "final";
  return messages.length === 0 ? "first" : "progress";
}
