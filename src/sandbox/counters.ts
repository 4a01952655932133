/** What has gone over the wire since the start, for tests to look at. */
export interface Counters {
  /** By method and route, as in `POST /channels/:id/messages`; refused and failed ones too. */
  readonly requests: Readonly<Record<string, number>>;
  /** Answers of 429, whether limits or faults made them. */
  readonly rateLimited: number;
  readonly connections: number;
  readonly identifies: number;
  readonly resumes: number;
  /** Routes and gateway operations that the sandbox doesn't have. */
  readonly unknown: readonly string[];
}

/** Counts; `onCount` hears that something was counted, so that whoever waits for it looks again. */
export class TrafficCounters implements Counters {
  readonly requests: Record<string, number> = {};
  readonly unknown: string[] = [];
  rateLimited = 0;
  connections = 0;
  identifies = 0;
  resumes = 0;
  readonly #onCount: () => void;

  constructor(onCount: () => void) {
    this.#onCount = onCount;
  }

  request(route: string): void {
    this.requests[route] = (this.requests[route] ?? 0) + 1;
    this.#onCount();
  }

  count(what: "rateLimited" | "connections" | "identifies" | "resumes"): void {
    this[what] += 1;
    this.#onCount();
  }

  notKnown(what: string): void {
    this.unknown.push(what);
    this.#onCount();
  }
}
