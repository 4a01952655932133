import { Lanes } from "../lanes.ts";

/**
 * How many requests may be begun within a rolling span. A request counts from its beginning until a span after its
 * answer: when the server counted it lies somewhere between, so its own count can never be the higher one.
 */
export class RequestWindow {
  readonly limit: number;
  readonly #spanMs: number;
  readonly #now: () => number;
  #open = 0;
  #ended: number[] = [];

  constructor(limit: number, spanMs: number, now: () => number = Date.now) {
    this.limit = limit;
    this.#spanMs = spanMs;
    this.#now = now;
  }

  get left(): number {
    this.#forget();
    return this.limit - this.#open - this.#ended.length;
  }

  get idle(): boolean {
    return this.left === this.limit;
  }

  /** Milliseconds until `needed` requests are left, as far as can be told now; 0: they are. */
  waitFor(needed: number): number {
    const missing = needed - this.left;
    if (missing <= 0) return 0;
    const end = this.#ended[missing - 1];
    // Not even all that have ended would do: an open request has to be answered first.
    if (end === undefined) return Math.min(50, this.#spanMs);
    return Math.max(1, end + this.#spanMs - this.#now());
  }

  /** Counts a request as begun. The returned function is called once, when it is answered. */
  begin(): () => void {
    this.#open += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#open -= 1;
      this.#ended.push(this.#now());
    };
  }

  #forget(): void {
    const oldest = this.#now() - this.#spanMs;
    let gone = 0;
    while (gone < this.#ended.length && (this.#ended[gone] ?? 0) <= oldest) gone += 1;
    if (gone > 0) this.#ended = this.#ended.slice(gone);
  }
}

/** How many of the budget must be left before a request of this kind is begun. */
const needs = { typing: 30, progress: 20, first: 10, final: 1 } as const;
export type RequestKind = keyof typeof needs;

/**
 * The one bucket for everything that the bot asks of Discord: 40 requests in any second, of the 50 that are allowed,
 * so that discord.js never has to meet a 429. The cheap kinds keep away when it runs low; a final one waits its turn.
 */
export class RequestBudget {
  readonly #window: RequestWindow;
  #line: Promise<void> = Promise.resolve();
  readonly #lanes = new Lanes();

  constructor(now: () => number = Date.now) {
    this.#window = new RequestWindow(40, 1000, now);
  }

  /** Milliseconds until a request of this kind may be begun; 0: now. */
  waitFor(kind: RequestKind): number {
    return this.#window.waitFor(needs[kind]);
  }

  /** Begins a request if there is room for its kind now. Call the result when it is answered. */
  tryBegin(kind: RequestKind): (() => void) | undefined {
    return this.waitFor(kind) === 0 ? this.#window.begin() : undefined;
  }

  /** Begins a request that must be made, first come first served. Call the result when it is answered. */
  begin(): Promise<() => void> {
    const begun = this.#line.then(async () => {
      for (let wait = this.waitFor("final"); wait > 0; wait = this.waitFor("final")) {
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
      return this.#window.begin();
    });
    this.#line = begun.then(() => undefined);
    return begun;
  }

  /**
   * Makes one request that must be made, within the budget and after those before it in its lane. Discord limits each
   * route by channel, and discord.js holds what comes behind a 429 back: only one of them may take a place meanwhile.
   * @param lane what the request is about and the channel it is for
   */
  run<Result>(lane: string, request: () => Promise<Result>): Promise<Result> {
    return this.#lanes.run(lane, () => this.#make(this.begin(), request));
  }

  /** The same for a request that can wait: it leaves as much room as progress does, for what people wait for. */
  runCalmly<Result>(lane: string, request: () => Promise<Result>): Promise<Result> {
    return this.#lanes.run(lane, () => this.#make(this.#beginCalmly(), request));
  }

  async #beginCalmly(): Promise<() => void> {
    for (;;) {
      const end = this.tryBegin("progress");
      if (end) return end;
      await new Promise((resolve) => setTimeout(resolve, this.waitFor("progress")));
    }
  }

  async #make<Result>(begun: Promise<() => void>, request: () => Promise<Result>): Promise<Result> {
    const end = await begun;
    try {
      return await request();
    } finally {
      end();
    }
  }
}
