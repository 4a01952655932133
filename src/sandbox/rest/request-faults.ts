import type { Route } from "./route.ts";

/** Sending a message: what most faults are about. */
export const sending = "POST /channels/:id/messages";

/** Which requests a fault is for; default: sending, in every channel. */
export interface Aim {
  /** A route's name as the counters have it, or a pattern for it. */
  readonly route?: string | RegExp;
  readonly channelId?: string;
  /** How many requests it meets; default 1. */
  readonly times?: number;
}

export interface Failure extends Aim {
  /** `cut` drops the connection without an answer. */
  readonly status: number | "cut";
  /** The code in the error's JSON. */
  readonly code?: number;
  readonly message?: string;
  /** Seconds, for a 429; default 1. */
  readonly retryAfter?: number;
  /** A 429 for the whole bot. */
  readonly global?: boolean;
  /** The request is carried out and only its answer is lost. */
  readonly carriedOut?: boolean;
}

export interface Delay extends Aim {
  /** Milliseconds before the request is looked at. */
  readonly ms: number;
}

interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** The faults that wait for their requests. */
export class RequestFaults {
  readonly #failures = new Set<Armed<Failure>>();
  readonly #delays = new Set<Armed<Delay>>();

  /** Each returns how to end it before it is used up. */
  fail(failure: Failure): () => void {
    return arm(this.#failures, failure);
  }

  delay(delay: Delay): () => void {
    return arm(this.#delays, delay);
  }

  takeFailure(route: Route): Failure | undefined {
    return take(this.#failures, route);
  }

  takeDelay(route: Route): Delay | undefined {
    return take(this.#delays, route);
  }
}

function arm<Fault extends Aim>(armed: Set<Armed<Fault>>, fault: Fault): () => void {
  const entry = { fault, left: fault.times ?? 1 };
  armed.add(entry);
  return () => armed.delete(entry);
}

function take<Fault extends Aim>(armed: Set<Armed<Fault>>, { name, major }: Route): Fault | undefined {
  for (const entry of armed) {
    const { route = sending, channelId } = entry.fault;
    const isAimedAt = typeof route === "string" ? route === name : route.test(name);
    if (!isAimedAt || (channelId !== undefined && channelId !== major)) continue;
    entry.left -= 1;
    if (entry.left <= 0) armed.delete(entry);
    return entry.fault;
  }
  return undefined;
}
