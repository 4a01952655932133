interface Held {
  readonly channel: string;
  readonly message: string;
  pass(): void;
}

/**
 * Holds back what is said now while it is being found out what was said before it, so that both keep their order. It
 * opens channel by channel, and by itself when that takes too long.
 */
export class LiveGate {
  #held: Held[] = [];
  /** The channels that are held; `"all"`: it is not known yet which. */
  #closed: Set<string> | "all" = new Set();
  #withdrawn = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** Holds everything, for at most so many milliseconds. */
  hold(withinMs: number): void {
    this.#closed = "all";
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.openAll(), withinMs);
    // Nothing else has to go on for this.
    this.#timer.unref();
  }

  /** From now on only these channels are held. */
  holdOnly(channels: Iterable<string>): void {
    if (this.#closed !== "all") return;
    this.#closed = new Set(channels);
    this.#letThrough();
  }

  /** Calls `pass` when the channel is open, behind what came before it: at once, if it is. */
  pass(channel: string, message: string, pass: () => void): void {
    if (this.#isClosed(channel)) this.#held.push({ channel, message, pass });
    else pass();
  }

  /** Messages that were deleted meanwhile: they don't pass. */
  withdraw(messages: readonly string[]): void {
    if (this.#timer === undefined) return;
    for (const message of messages) this.#withdrawn.add(message);
    this.#held = this.#held.filter(({ message }) => !this.#withdrawn.has(message));
  }

  isWithdrawn(message: string): boolean {
    return this.#withdrawn.has(message);
  }

  open(channel: string): void {
    if (this.#closed === "all") return;
    this.#closed.delete(channel);
    this.#letThrough();
  }

  openAll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#closed = new Set();
    this.#withdrawn = new Set();
    this.#letThrough();
  }

  #isClosed(channel: string): boolean {
    return this.#closed === "all" || this.#closed.has(channel);
  }

  #letThrough(): void {
    const passing = this.#held.filter(({ channel }) => !this.#isClosed(channel));
    this.#held = this.#held.filter(({ channel }) => this.#isClosed(channel));
    for (const { pass } of passing) pass();
  }
}
