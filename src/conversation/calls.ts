import type { ThreadkeeperError } from "../errors.ts";
import { within } from "../within.ts";
import type { Call } from "./call.ts";

/** The calls of the agent that go on in this process. */
export class Calls {
  readonly #all = new Set<Call>();

  get size(): number {
    return this.#all.size;
  }

  /** Keeps a call until nothing of it goes on any more. */
  add(call: Call): void {
    this.#all.add(call);
    void call.done.then(() => this.#all.delete(call));
  }

  /** Those of a session whose input the store has. */
  takenIn(sessionId: string): Call[] {
    return [...this.#all].filter((call) => call.taken && call.sessionId === sessionId);
  }

  /** Those that bring a message of which this holds. */
  bringing(fits: (message: NonNullable<Call["message"]>) => boolean): Call[] {
    return [...this.#all].filter(({ message }) => message !== undefined && fits(message));
  }

  abortAll(reason: ThreadkeeperError): void {
    for (const call of this.#all) call.abort(reason);
  }

  /** Whether everything ended in that time, in milliseconds. */
  allDone(withinMs: number): Promise<boolean> {
    return within(withinMs, Promise.all(Array.from(this.#all, (call) => call.done)));
  }
}
