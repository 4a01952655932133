import { DiscordError } from "../world/discord-error.ts";
import type { Route } from "./route.ts";

/** Requests in a span that begins with the first of them. */
class Window {
  readonly #limit: number;
  readonly #ms: number;
  #count = 0;
  #resetsAt = 0;

  constructor(limit: number, ms: number) {
    this.#limit = limit;
    this.#ms = ms;
  }

  /** Counts one more, if there is room. */
  take(): boolean {
    const now = Date.now();
    if (now >= this.#resetsAt) {
      this.#count = 0;
      this.#resetsAt = now + this.#ms;
    }
    if (this.#count >= this.#limit) return false;
    this.#count += 1;
    return true;
  }

  get secondsLeft(): number {
    return Math.max(0.001, (this.#resetsAt - Date.now()) / 1_000);
  }

  headers(bucket: string): Record<string, string> {
    return {
      "x-ratelimit-limit": String(this.#limit),
      "x-ratelimit-remaining": String(this.#limit - this.#count),
      "x-ratelimit-reset": (this.#resetsAt / 1_000).toFixed(3),
      "x-ratelimit-reset-after": this.secondsLeft.toFixed(3),
      "x-ratelimit-bucket": bucket,
    };
  }
}

/** A 429. */
export class RateLimited extends Error {
  readonly retryAfter: number;
  readonly isGlobal: boolean;
  readonly headers: Record<string, string>;
  readonly code: number;

  constructor(options: {
    retryAfter: number;
    isGlobal?: boolean;
    headers?: Record<string, string>;
    cause?: DiscordError;
  }) {
    super(options.cause?.message ?? "You are being rate limited.");
    this.name = "RateLimited";
    this.retryAfter = options.retryAfter;
    this.isGlobal = options.isGlobal ?? false;
    this.code = options.cause?.code ?? 0;
    this.headers = {
      ...options.headers,
      "retry-after": options.retryAfter.toFixed(3),
      "x-ratelimit-scope": this.isGlobal ? "global" : "user",
      ...(this.isGlobal && { "x-ratelimit-global": "true" }),
    };
  }

  toBody(): object {
    return { message: this.message, retry_after: this.retryAfter, global: this.isGlobal, code: this.code };
  }
}

/** Creating and editing share a bucket here, which is the stricter way to take "about 5 in 5 seconds". */
const messageRoutes = new Set(["POST /channels/:id/messages", "PATCH /channels/:id/messages/:id"]);

/** https://discord.com/developers/docs/topics/rate-limits */
export class RateLimits {
  readonly #isOn: boolean;
  readonly #global = new Window(50, 1_000);
  readonly #windows = new Map<string, Window>();

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** Counts a request and gives the headers of its answer; throws RateLimited when there is no room for it. */
  take({ name, major }: Route): Record<string, string> {
    if (!this.#isOn) return {};
    // Answering interactions is apart from the bot's 50 a second.
    const isGlobal = !/ \/(interactions|webhooks)\//.test(name);
    if (isGlobal && !this.#global.take()) {
      throw new RateLimited({ retryAfter: this.#global.secondsLeft, isGlobal: true });
    }
    if (!messageRoutes.has(name)) return {};
    const window = this.#window(`messages:${major}`, 5, 5_000);
    const hasRoom = window.take();
    const headers = window.headers("messages");
    if (!hasRoom) throw new RateLimited({ retryAfter: window.secondsLeft, headers });
    return headers;
  }

  /** A thread or channel takes a new name twice in 10 minutes. */
  takeRename(channelId: string): void {
    this.#demand(`rename:${channelId}`, 2, 600_000);
  }

  /** Messages that are older than an hour are edited only now and then. */
  takeOldEdit(channelId: string): void {
    this.#demand(`old:${channelId}`, 3, 20_000, new DiscordError(30046));
  }

  #demand(key: string, limit: number, ms: number, cause?: DiscordError): void {
    if (!this.#isOn) return;
    const window = this.#window(key, limit, ms);
    if (!window.take()) throw new RateLimited({ retryAfter: window.secondsLeft, ...(cause && { cause }) });
  }

  #window(key: string, limit: number, ms: number): Window {
    const window = this.#windows.get(key) ?? new Window(limit, ms);
    this.#windows.set(key, window);
    return window;
  }
}
