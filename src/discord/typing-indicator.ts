import { within } from "../within.ts";
import type { RequestBudget } from "./request-budget.ts";

/** Discord shows it for 10 seconds. */
const refreshMs = 8_000;
/** An answer that comes at once needs none, and a call less is a call less. */
const startAfterMs = 300;
const retryMs = 1_000;
/** How long a send waits for a typing call under way, which would otherwise outlive the reply by 10 seconds. */
const settleMs = 500;

export interface TypingPlan {
  readonly show: () => Promise<void>;
  readonly budget: RequestBudget;
  /** From when on it should be seen that somebody is at work, in milliseconds since the epoch; `undefined`: nobody is. */
  readonly wantedFrom: () => number | undefined;
}

/** Shows in one channel that somebody is at work: one call at a time, never awaited, left out when the budget runs low. */
export class TypingIndicator {
  readonly #plan: TypingPlan;
  #timer: NodeJS.Timeout | undefined;
  #due = Number.POSITIVE_INFINITY;
  #notBefore = 0;
  #call: Promise<void> | undefined;

  constructor(plan: TypingPlan) {
    this.#plan = plan;
  }

  /** What `wantedFrom` says has changed. */
  look(): void {
    const from = this.#plan.wantedFrom();
    if (from === undefined) this.#cancel();
    else this.#schedule(Math.max(from, Date.now() + startAfterMs));
  }

  /** Resolves when no call is under way, or has been for too long. */
  async settled(): Promise<void> {
    if (!this.#call) return;
    await within(settleMs, this.#call);
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** An earlier time that is set already stands. */
  #schedule(at: number): void {
    const due = Math.max(at, this.#notBefore);
    if (due >= this.#due) return;
    this.#cancel();
    this.#due = due;
    this.#timer = setTimeout(() => this.#tick(), due - Date.now());
  }

  #tick(): void {
    this.#due = Number.POSITIVE_INFINITY;
    const from = this.#plan.wantedFrom();
    if (from === undefined) return;
    const now = Date.now();
    if (from <= now) {
      const end = this.#call ? undefined : this.#plan.budget.tryBegin("typing");
      if (end) this.#send(end);
      this.#notBefore = now + (end ? refreshMs : retryMs);
    }
    this.#schedule(from);
  }

  #send(end: () => void): void {
    // A failure is the next send's to tell: what can't be typed in can't be answered in.
    const call = this.#plan
      .show()
      .catch(() => undefined)
      .finally(() => {
        end();
        if (this.#call === call) this.#call = undefined;
      });
    this.#call = call;
  }
}
