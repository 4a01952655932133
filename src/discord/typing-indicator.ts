import type { RequestBudget } from "./request-budget.ts";

/** Discord shows it for 10 seconds; a text that moves says as much, so then it is left away. */
const refreshMs = 8_000;
/** An answer that comes at once needs none, and a call less is a call less. */
const startAfterMs = 300;
const retryMs = 1_000;
/** How long a send waits for a typing call under way, which would otherwise outlive the reply by 10 seconds. */
const settleMs = 500;

/** Shows in one channel that somebody is at work. Never awaited; left out when the budget runs low. */
export class TypingIndicator {
  readonly #show: () => Promise<void>;
  readonly #budget: RequestBudget;
  #on = false;
  #timer: NodeJS.Timeout | undefined;
  #movedAt = Number.NEGATIVE_INFINITY;
  #call: Promise<void> | undefined;

  constructor(show: () => Promise<void>, budget: RequestBudget) {
    this.#show = show;
    this.#budget = budget;
  }

  set(on: boolean): void {
    if (on === this.#on) return;
    this.#on = on;
    clearTimeout(this.#timer);
    if (on) this.#after(startAfterMs);
  }

  /** Something was drawn just now. */
  moved(): void {
    this.#movedAt = Date.now();
  }

  /** Resolves when no call is under way, or has been for too long. */
  async settled(): Promise<void> {
    if (!this.#call) return;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, settleMs);
    });
    await Promise.race([this.#call, enough]);
    clearTimeout(timer);
  }

  #after(ms: number): void {
    this.#timer = setTimeout(() => this.#tick(), ms);
  }

  #tick(): void {
    const quietFor = Date.now() - this.#movedAt;
    const end = quietFor < refreshMs ? undefined : this.#budget.tryBegin("typing");
    if (end) this.#send(end);
    this.#after(quietFor < refreshMs ? refreshMs - quietFor : end ? refreshMs : retryMs);
  }

  #send(end: () => void): void {
    // A failure is the next send's to tell: what can't be typed in can't be answered in.
    const call = this.#show()
      .catch(() => undefined)
      .finally(() => {
        end();
        if (this.#call === call) this.#call = undefined;
      });
    this.#call = call;
  }
}
