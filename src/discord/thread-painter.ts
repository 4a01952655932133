import { createHash } from "node:crypto";
import type { Logger } from "../log.ts";
import type { Painter, ReplyView } from "../reply/reply-view.ts";
import { beginReading } from "./adoption.ts";
import { ChannelPump } from "./channel-pump.ts";
import { discordCode } from "./discord-error.ts";
import type { Drawing } from "./drawing.ts";
import type { MessageWriter } from "./message-writer.ts";
import { type Place, toPlace } from "./place.ts";
import type { RequestBudget } from "./request-budget.ts";

/** Where nothing can be said: unknown channel, no access, somebody who takes no messages, no permission, locked thread. */
const closedToUs: ReadonlySet<number | undefined> = new Set([10003, 50001, 50007, 50013, 50083, 160005]);
const manyChannels = 500;

export interface ThreadPainterPlan {
  readonly writer: MessageWriter;
  readonly budget: RequestBudget;
  readonly log: Logger;
  /** Whether the turns that are drawn are surely still this process's. */
  readonly ownsTurns?: (() => boolean) | undefined;
  /** What is said in the place of an answer that could not be posted. */
  readonly apology: string;
}

/** Draws views as messages in threads. Errors are logged and stay inside; drawing goes on. */
export class ThreadPainter implements Painter {
  readonly #plan: ThreadPainterPlan;
  readonly #pumps = new Map<string, ChannelPump>();
  readonly #drawings = new Map<string, Drawing>();
  readonly #waiting = new Map<Drawing, () => void>();
  /** Turns that can't be drawn: their later views are not tried again. */
  readonly #givenUp = new Set<string>();
  #closed = false;

  constructor(plan: ThreadPainterPlan) {
    this.#plan = plan;
  }

  async draw(view: ReplyView): Promise<void> {
    if (this.#closed) return;
    const place = toPlace(view.replyTo);
    if (!place) {
      this.#plan.log.warn({ turn: view.turn }, "an answer has no place on Discord");
      return;
    }
    const key = view.turn ?? noticeNonce(place, view);
    if (this.#givenUp.has(key)) {
      if (view.finished) this.#givenUp.delete(key);
      return;
    }
    const known = this.#drawings.get(key);
    // A stream that lost its run, and does not know it yet, says nothing any more.
    if (known?.view.resumed && !view.resumed) return;
    // What was drawn here before somebody else had it is not all there is.
    if (known && view.resumed && !known.view.resumed) this.#leave(known);
    const drawing = this.#drawings.get(key) ?? newDrawing(key, place, view);
    drawing.view = view;
    this.#drawings.set(key, drawing);
    const out = view.finished ? this.#whenDone(drawing) : undefined;
    this.#pump(place.channel).draw(drawing);
    await out;
  }

  /** The stream of this view ended without an end (its run was taken away): nothing more of it is drawn. */
  drop(view: ReplyView): void {
    if (view.turn === undefined) return;
    this.#givenUp.delete(view.turn);
    const drawing = this.#drawings.get(view.turn);
    // Another stream may draw the turn by now.
    if (drawing?.view === view) this.#leave(drawing);
  }

  /** Nothing more is sent; whoever waits for a drawing is let go. */
  close(): void {
    this.#closed = true;
    for (const drawing of [...this.#drawings.values()]) this.#leave(drawing);
  }

  #pump(channel: string): ChannelPump {
    const known = this.#pumps.get(channel);
    if (known) return known;
    if (this.#pumps.size >= manyChannels) {
      for (const [id, pump] of this.#pumps) if (pump.idle) this.#pumps.delete(id);
    }
    const pump = new ChannelPump({
      ...this.#plan,
      channel,
      onDone: (drawing) => this.#done(drawing),
      onFailed: (drawing, error) => this.#failed(drawing, error),
    });
    this.#pumps.set(channel, pump);
    return pump;
  }

  #whenDone(drawing: Drawing): Promise<void> {
    const before = this.#waiting.get(drawing);
    return new Promise((resolve) => {
      this.#waiting.set(drawing, () => {
        before?.();
        resolve();
      });
    });
  }

  #leave(drawing: Drawing): void {
    this.#pumps.get(drawing.place.channel)?.drop(drawing);
    this.#done(drawing);
  }

  #done(drawing: Drawing): void {
    this.#drawings.delete(drawing.nonce);
    this.#waiting.get(drawing)?.();
    this.#waiting.delete(drawing);
  }

  #failed(drawing: Drawing, error: unknown): void {
    this.#done(drawing);
    if (!drawing.view.finished) this.#givenUp.add(drawing.nonce);
    const { apology } = this.#plan;
    const saidAlready = drawing.view.chunks[0] === apology;
    if (saidAlready || closedToUs.has(discordCode(error))) return;
    const { replyTo } = drawing.view;
    void this.draw({ notice: "apology", replyTo, chunks: [apology], typing: false, finished: true });
  }
}

/** The same for all processes that have to say this here, so that Discord takes it from one of them only. */
function noticeNonce({ channel, message }: Place, { notice, chunks }: ReplyView): string {
  const what = JSON.stringify([channel, message, notice ?? chunks]);
  return `n${createHash("sha256").update(what).digest("hex").slice(0, 16)}`;
}

function newDrawing(nonce: string, place: Place, view: ReplyView): Drawing {
  const isResumed = view.resumed === true;
  return {
    nonce,
    place,
    view,
    messages: [],
    reading: isResumed ? beginReading(place) : undefined,
    readAgain: isResumed,
    drawnAt: 0,
    failures: 0,
    notBefore: 0,
    left: new AbortController(),
  };
}
