import type { ReplyView } from "../reply/reply-view.ts";
import type { DrawnMessage, Reading } from "./adoption.ts";
import type { Place } from "./place.ts";
import type { RequestKind } from "./request-budget.ts";

/** One reply as it stands on Discord, beside the view that it shall become. */
export interface Drawing {
  readonly place: Place;
  /** The beginning of its messages' nonces: the turn, so that a turn taken up elsewhere posts nothing twice. */
  readonly nonce: string;
  view: ReplyView;
  /** Messages that were sent, in order. */
  messages: readonly DrawnMessage[];
  /** What stands is not known, and is being read; nothing is changed before. */
  reading: Reading | undefined;
  /** Somebody else may still have drawn on it: it is read once more before it is done. */
  readAgain: boolean;
  /** When something of it was last sent or changed, in milliseconds since the epoch; 0: never. */
  drawnAt: number;
  /** Failed tries since the last success, and the earliest time of the next. */
  failures: number;
  notBefore: number;
  /** Aborted when nobody draws it any more, with what is in flight. */
  readonly left: AbortController;
}

/** The next single request that brings a drawing closer to its view. */
export type Step =
  | { readonly do: "read"; readonly reading: Reading }
  | { readonly do: "send" | "edit"; readonly index: number; readonly content: string }
  | { readonly do: "remove"; readonly index: number };

/** In order, so that a reader never sees a later part before an earlier one; `undefined`: it is as it should be. */
export function nextStep({
  view,
  messages,
  reading,
}: Pick<Drawing, "view" | "messages" | "reading">): Step | undefined {
  if (reading) return view.chunks.length > 0 || view.finished ? { do: "read", reading } : undefined;
  for (const [index, content] of view.chunks.entries()) {
    const message = messages[index];
    if (!message) return { do: "send", index, content };
    if (message.id !== undefined && message.content !== content && !isBehind(view, content, message)) {
      return { do: "edit", index, content };
    }
  }
  // Before the end more may come, and a message that was removed can't be sent again.
  const index = messages.length - 1;
  return view.finished && index >= view.chunks.length ? { do: "remove", index } : undefined;
}

/** What kind of request a drawing's next step is, in the order of their urgency: final, first, progress. */
export function urgency({ view, messages }: Pick<Drawing, "view" | "messages">): Exclude<RequestKind, "typing"> {
  if (view.finished) return "final";
  return messages.length === 0 ? "first" : "progress";
}

/** A turn that was taken up has said less so far than whoever began it: its reader is not shown that. */
function isBehind({ resumed, finished }: ReplyView, content: string, message: DrawnMessage): boolean {
  return resumed === true && !finished && message.content.startsWith(content);
}
