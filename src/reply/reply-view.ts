import type { TurnEvent } from "../conversation/turn-event.ts";

/** Where a reply goes; the platform's own, opaque here. */
export type ReplyTo = Extract<TurnEvent, { type: "notice" }>["replyTo"];

/** What the reader sees of one turn or one notice: a value, drawn whole every time. */
export interface ReplyView {
  /** The turn that it shows; absent for a notice. */
  readonly turn?: string;
  readonly replyTo: ReplyTo;
  /** The messages, in order; each 1 to 2,000 characters. */
  readonly chunks: readonly string[];
  /** Somebody is at work on it. */
  readonly typing: boolean;
  /** Nothing will be added. */
  readonly finished: boolean;
}

/** Draws views. `draw` keeps the newest and returns; the draw of a finished view resolves when it is out. */
export interface Painter {
  draw(view: ReplyView): Promise<void>;
}
