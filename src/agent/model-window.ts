import type { ModelMessage } from "ai";
import type { Session } from "../session/session.ts";
import type { SessionEvent } from "../session/session-event.ts";
import { cutAtTurn, showEvent, showEvents, showOlder } from "./context-window.ts";
import type { Usage } from "./usage.ts";

export interface WindowPlan {
  /** How much of a conversation the model is shown before its older part is summarised, in tokens. */
  readonly windowTokens: number;
  /** What goes along with every call, in bytes: instructions and tools. */
  readonly fixedBytes: number;
}

/** Bytes of JSON to a token, until the provider has reported some. */
const usualRatio = 4;
/** What a provider may believably report: one that leaves out half of what it is sent, or reports nothing, is not believed. */
const [lowestRatio, highestRatio] = [1, 8];
/** To how many characters a text is cut that is in the way. */
const shortest = 2_000;
/** What a file counts as at most, in bytes: providers bill an image by its size on a screen. */
const fileBytes = 6_000;

/**
 * What the model is shown of a conversation in a turn, and how much that is. What is shown depends on the events, the
 * summary and the settings alone, so that the next call begins with the same bytes; only a model that says that it is
 * too much is shown less, for this turn.
 */
export class ModelWindow {
  readonly #plan: WindowPlan;
  readonly #head: readonly ModelMessage[];
  /** Of one text, in characters. */
  #maxLength: number;
  #maxBytes = Number.POSITIVE_INFINITY;
  /** Half of what the model refused. */
  #limit = Number.POSITIVE_INFINITY;
  #shownBytes = 0;
  #ratio = usualRatio;

  constructor(plan: WindowPlan, older: Pick<Session, "summary" | "earlier">) {
    this.#plan = plan;
    this.#head = showOlder(older);
    this.#maxLength = Math.max(shortest, plan.windowTokens);
  }

  show(events: readonly SessionEvent[]): ModelMessage[] {
    const messages = [...this.#head, ...showEvents(this.#within(events), this.#maxLength)];
    this.#shownBytes = bytesOf(messages);
    return messages;
  }

  /** What the provider reported of what was shown last. */
  measured({ inputTokens }: Usage): void {
    if (inputTokens === 0) return;
    const ratio = (this.#shownBytes + this.#plan.fixedBytes) / inputTokens;
    this.#ratio = Math.min(highestRatio, Math.max(lowestRatio, ratio));
  }

  /** Shows less from now on: first what is large is cut, then the older half goes. `false`: it can't be less. */
  shrink(events: readonly SessionEvent[]): boolean {
    this.#limit = Math.floor(this.#shownBytes / 2);
    const shown = this.#within(events);
    const bytes = bytesOf(showEvents(shown, this.#maxLength));
    if (this.#maxLength > shortest && bytesOf(showEvents(shown, shortest)) < bytes * 0.75) {
      this.#maxLength = shortest;
      return true;
    }
    if (shown.length === cutAtTurn(events, 0, this.#sizeOf).length) return false;
    this.#maxBytes = Math.floor(this.#bytesOf(shown) / 2);
    return true;
  }

  /** How much of a conversation may be shown, in bytes as shown: the budget, or less, if that was too much for the model. */
  get budgetBytes(): number {
    return Math.min(this.#limit, Math.floor(this.#plan.windowTokens * this.#ratio));
  }

  /** Whether what was shown last is more than should be shown from now on. */
  get isPastBudget(): boolean {
    return this.#limit < Number.POSITIVE_INFINITY || this.#shownBytes > this.budgetBytes;
  }

  /** The oldest turns, which have to go for the rest to fill about half of the budget; none, if all of it fits. */
  tooOld(events: readonly SessionEvent[]): readonly SessionEvent[] {
    if (this.#bytesOf(events) <= this.budgetBytes) return [];
    const kept = cutAtTurn(events, this.budgetBytes / 2, this.#sizeOf);
    return events.slice(0, events.length - kept.length);
  }

  /** Whether it can't wait: so much will not go on fitting. */
  isFarPast(events: readonly SessionEvent[]): boolean {
    return this.#limit < Number.POSITIVE_INFINITY || this.#bytesOf(events) > this.budgetBytes * 1.5;
  }

  #within(events: readonly SessionEvent[]): readonly SessionEvent[] {
    return cutAtTurn(events, this.#maxBytes, this.#sizeOf);
  }

  #bytesOf(events: readonly SessionEvent[]): number {
    return events.reduce((sum, event) => sum + this.#sizeOf(event), 0);
  }

  readonly #sizeOf = (event: SessionEvent): number => bytesOf([showEvent(event, this.#maxLength)]);
}

function bytesOf(messages: readonly ModelMessage[]): number {
  const json = JSON.stringify(messages, (key, value: unknown) =>
    typeof value === "string" && (key === "data" || key === "image") ? value.slice(0, fileBytes) : value,
  );
  return Buffer.byteLength(json);
}
