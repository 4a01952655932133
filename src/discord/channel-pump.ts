import type { Logger } from "../log.ts";
import { adopted, beginReading, type DrawnMessage, readOn } from "./adoption.ts";
import { discordCode, isGone, isPassing } from "./discord-error.ts";
import { type Drawing, nextStep, type Step, urgency } from "./drawing.ts";
import type { MessageWriter } from "./message-writer.ts";
import { type RequestBudget, RequestWindow } from "./request-budget.ts";
import { TypingIndicator } from "./typing-indicator.ts";

/** A channel takes 5 messages or edits in 5 seconds; the margin is for clocks and timers that run apart. */
const channelLimit = 5;
const channelSpanMs = 5_050;
/** A reader sees no difference below this, and the channel's limit is spent for nothing. */
const betweenProgressMs = 1_000;
const mostFailures = 5;
/** A text that has not changed for this long stands still. */
const stillMs = 8_000;

const order = { final: 0, first: 1, progress: 2 } as const;

export interface ChannelPumpPlan {
  readonly channel: string;
  readonly writer: MessageWriter;
  readonly budget: RequestBudget;
  readonly log: Logger;
  /** Whether the turns that are drawn here are surely still ours. Asked before each request for one. */
  readonly ownsTurns?: (() => boolean) | undefined;
  /** A drawing is as its finished view wants it. */
  readonly onDone: (drawing: Drawing) => void;
  /** A drawing can't be drawn, for good. */
  readonly onFailed: (drawing: Drawing, error: unknown) => void;
}

/**
 * Brings the drawings of one channel to what their views say: one request in flight, the most urgent first, each step
 * computed from the newest view just before it is sent, so that views which nobody could have read are skipped.
 */
export class ChannelPump {
  readonly #plan: ChannelPumpPlan;
  readonly #window = new RequestWindow(channelLimit, channelSpanMs);
  readonly #drawings = new Set<Drawing>();
  readonly #typing: TypingIndicator;
  #running = false;
  #wake: (() => void) | undefined;

  constructor(plan: ChannelPumpPlan) {
    this.#plan = plan;
    this.#typing = new TypingIndicator({
      show: () => plan.writer.showTyping(plan.channel),
      budget: plan.budget,
      wantedFrom: () => this.#typingFrom(),
    });
  }

  /** Nothing to draw, and nothing that the channel's limit still counts. */
  get idle(): boolean {
    return this.#drawings.size === 0 && this.#window.idle;
  }

  /** Adds a drawing, or looks again at one whose view has changed. */
  draw(drawing: Drawing): void {
    this.#drawings.add(drawing);
    this.#typing.look();
    this.#wake?.();
    if (!this.#running) void this.#run();
  }

  /** Forgets a drawing; what is on Discord stays. What is in flight is called back as far as it can be. */
  drop(drawing: Drawing): void {
    this.#drawings.delete(drawing);
    drawing.left.abort();
    this.#typing.look();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      for (let drawing = this.#next(); drawing; drawing = this.#next()) {
        const wait = this.#waitFor(drawing);
        if (wait > 0) await this.#sleep(wait);
        else await this.#advance(drawing);
      }
    } finally {
      this.#running = false;
    }
  }

  /** The most urgent drawing that has something to send. Those that are done leave. */
  #next(): Drawing | undefined {
    const now = Date.now();
    let best: Drawing | undefined;
    for (const drawing of this.#drawings) {
      if (!nextStep(drawing)) {
        if (!drawing.view.finished) continue;
        if (!drawing.readAgain) {
          this.#leave(drawing);
          continue;
        }
        drawing.readAgain = false;
        drawing.reading = beginReading(drawing.place);
      }
      if (!best || before(drawing, best, now)) best = drawing;
    }
    return best;
  }

  #leave(drawing: Drawing): void {
    this.drop(drawing);
    this.#plan.onDone(drawing);
  }

  #waitFor(drawing: Drawing): number {
    const kind = urgency(drawing);
    const now = Date.now();
    // The last place in the channel's window is kept free, so that an end never waits behind progress.
    const waits = [drawing.notBefore - now, this.#window.waitFor(kind === "progress" ? 2 : 1)];
    if (kind === "progress") waits.push(drawing.drawnAt + betweenProgressMs - now);
    if (kind !== "final") waits.push(this.#plan.budget.waitFor(kind));
    return Math.max(...waits);
  }

  async #advance(drawing: Drawing): Promise<void> {
    const kind = urgency(drawing);
    const endInChannel = this.#window.begin();
    const end = kind === "final" ? await this.#plan.budget.begin() : this.#plan.budget.tryBegin(kind);
    try {
      const step = end && this.#drawings.has(drawing) ? nextStep(drawing) : undefined;
      // Whoever has the turn now draws it.
      if (step && drawing.view.turn !== undefined && this.#plan.ownsTurns?.() === false) this.#leave(drawing);
      else if (step) await this.#take(drawing, step);
    } finally {
      end?.();
      endInChannel();
    }
  }

  async #take(drawing: Drawing, step: Step): Promise<void> {
    try {
      await this.#perform(drawing, step);
      // A look that succeeds says nothing about the send that it was for.
      if (step.do !== "read") drawing.failures = 0;
    } catch (error) {
      if (!this.#drawings.has(drawing)) return;
      if (isGone(error) && step.do !== "read") settleAsGone(drawing, step);
      else if (isPassing(error) && drawing.failures < mostFailures) {
        this.#retryLater(drawing, error);
        // It may have got through, and not its answer.
        if (step.do === "send" && drawing.view.turn !== undefined) drawing.reading = beginReading(drawing.place);
      } else this.#fail(drawing, error);
    }
    drawing.drawnAt = Date.now();
  }

  async #perform(drawing: Drawing, step: Step): Promise<void> {
    const { writer, channel } = this.#plan;
    const { place, messages, left, view } = drawing;
    if (step.do === "read") {
      const page = await writer.read(channel, step.reading.after, left.signal);
      const { reading, isWhole } = readOn(step.reading, page, place);
      drawing.reading = isWhole ? undefined : reading;
      if (isWhole) drawing.messages = adopted(messages, reading.found, place, drawing.view.chunks);
      return;
    }
    const id = messages[step.index]?.id;
    if (step.do === "send") {
      await this.#typing.settled();
      const kind = view.turn === undefined ? "notice" : "chunk";
      const nonce = `${drawing.nonce}.${step.index}`;
      const options = { nonce, reply: step.index === 0, kind, signal: left.signal } as const;
      drawing.messages = [...messages, await writer.send(place, step.content, options)];
    } else if (step.do === "edit") {
      if (id !== undefined) await writer.edit(channel, id, step.content, left.signal);
      drawing.messages = messages.with(step.index, { id, content: step.content });
    } else {
      if (id !== undefined) await writer.remove(channel, id, left.signal);
      drawing.messages = messages.slice(0, -1);
    }
  }

  #retryLater(drawing: Drawing, error: unknown): void {
    const wait = Math.min(500 * 2 ** drawing.failures, 5_000);
    drawing.failures += 1;
    drawing.notBefore = Date.now() + wait;
    this.#plan.log.warn(
      { channel: this.#plan.channel, err: error, failures: drawing.failures },
      "drawing failed, will be tried again",
    );
  }

  #fail(drawing: Drawing, error: unknown): void {
    this.#plan.log.error(
      { channel: this.#plan.channel, err: error, code: discordCode(error) },
      "an answer could not be drawn",
    );
    this.drop(drawing);
    this.#plan.onFailed(drawing, error);
  }

  /** Waits, but no longer than until a newer view comes. */
  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** A text that moves says by itself that somebody is at work; one that stands still does not. */
  #typingFrom(): number | undefined {
    let from: number | undefined;
    for (const { view, drawnAt } of this.#drawings) {
      if (!view.typing || view.finished) continue;
      from = Math.min(from ?? Number.POSITIVE_INFINITY, drawnAt + stillMs);
    }
    return from;
  }
}

/** Which of two drawings goes first: what waits after a failure lets others pass; then by urgency; then the older. */
function before(one: Drawing, other: Drawing, now: number): boolean {
  const late = Number(one.notBefore > now) - Number(other.notBefore > now);
  if (late !== 0) return late < 0;
  const kinds = order[urgency(one)] - order[urgency(other)];
  return kinds === 0 ? one.drawnAt < other.drawnAt : kinds < 0;
}

/** 10008: somebody deleted the message. It stays deleted, and what comes behind it goes on. */
function settleAsGone(drawing: Drawing, step: Exclude<Step, { readonly do: "read" }>): void {
  const { messages } = drawing;
  const gone: DrawnMessage = { id: undefined, content: step.do === "remove" ? "" : step.content };
  drawing.messages = [...messages.slice(0, step.index), gone, ...messages.slice(step.index + 1)];
}
