interface Held {
  readonly channel: string;
  readonly message: string;
  pass(): void;
}

/** What is held back for one catching up. */
export interface Hold {
  /** From now on only these channels are held. */
  only(channels: Iterable<string>): void;
  open(channel: string): void;
  /** Whether a message, or its channel, was deleted since the hold began, however much of it is open. */
  isWithdrawn(channel: string, message: string): boolean;
  /** Whether one says something else since then. */
  isReworded(message: string): boolean;
  /** All that was said before is heard. */
  release(): void;
}

/**
 * Holds back what is said now while it is being found out what was said before it, so that both keep their order. What
 * passes is held by nobody.
 */
export class LiveGate {
  #held: Held[] = [];
  readonly #holds = new Set<ChannelHold>();

  /** Holds everything. It opens channel by channel, and by itself after so many milliseconds. */
  hold(withinMs: number): Hold {
    const hold = new ChannelHold(withinMs, () => {
      if (hold.isReleased) this.#holds.delete(hold);
      this.#letThrough();
    });
    this.#holds.add(hold);
    return hold;
  }

  /** Calls `pass` when the channel is open, behind what came before it: at once, if it is. */
  pass(channel: string, message: string, pass: () => void): void {
    // Of a connection that has just begun, discord.js keeps messages back until it knows its servers.
    if ([...this.#holds].some((hold) => hold.isWithdrawn(channel, message))) return;
    if (this.#isClosed(channel)) this.#held.push({ channel, message, pass });
    else pass();
  }

  /** Messages, or channels with all messages in them, that were deleted: they don't pass. */
  withdraw(ids: readonly string[]): void {
    for (const hold of this.#holds) for (const id of ids) hold.withdrawn.add(id);
    this.#held = this.#held.filter(({ channel, message }) => !ids.includes(message) && !ids.includes(channel));
  }

  /** A message that was edited: discord.js rewords only those that it has delivered itself. */
  reword(message: string): void {
    for (const hold of this.#holds) hold.reworded.add(message);
  }

  #isClosed(channel: string): boolean {
    return [...this.#holds].some(({ closed }) => closed === "all" || closed.has(channel));
  }

  #letThrough(): void {
    const passing = this.#held.filter(({ channel }) => !this.#isClosed(channel));
    this.#held = this.#held.filter(({ channel }) => this.#isClosed(channel));
    for (const { pass } of passing) pass();
  }
}

class ChannelHold implements Hold {
  /** The channels that are held; `"all"`: it is not known yet which. */
  closed: Set<string> | "all" = "all";
  isReleased = false;
  readonly withdrawn = new Set<string>();
  readonly reworded = new Set<string>();
  readonly #onOpened: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(withinMs: number, onOpened: () => void) {
    this.#onOpened = onOpened;
    // Nothing else has to go on for this.
    this.#timer = setTimeout(() => this.only([]), withinMs).unref();
  }

  only(channels: Iterable<string>): void {
    // What is open stays open.
    const { closed } = this;
    this.closed = new Set([...channels].filter((channel) => closed === "all" || closed.has(channel)));
    this.#onOpened();
  }

  open(channel: string): void {
    if (this.closed === "all") return;
    this.closed.delete(channel);
    this.#onOpened();
  }

  isWithdrawn(channel: string, message: string): boolean {
    return this.withdrawn.has(message) || this.withdrawn.has(channel);
  }

  isReworded(message: string): boolean {
    return this.reworded.has(message);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.isReleased = true;
    this.only([]);
  }
}
