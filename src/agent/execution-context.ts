import type { ModelMessage } from "ai";
import type { JsonObject } from "../session/plain-json.ts";
import { plainJson } from "../session/plain-json.ts";
import { randomId } from "../session/random-id.ts";
import type { Author, SessionEvent } from "../session/session-event.ts";
import type { CoveredInput } from "../session/session-manager.ts";

/** What one run works on: the events it started from, those it added, and the state. Never shared between runs. */
export class ExecutionContext {
  readonly turn: string;
  /** Who asked, if one person did: `undefined` where a turn answers several. */
  readonly author: Author | undefined;
  /** What the model has said in the step that is under way. Becomes an event when the step is complete. */
  unfinishedText = "";
  #events: readonly SessionEvent[];
  #state: JsonObject;

  constructor(start: {
    readonly turn: string;
    readonly author: Author | undefined;
    readonly events: readonly SessionEvent[];
    readonly state: JsonObject;
  }) {
    this.turn = start.turn;
    this.author = start.author;
    this.#events = start.events;
    this.#state = start.state;
  }

  get events(): readonly SessionEvent[] {
    return this.#events;
  }

  /** Whether there is something to answer: what was said in the turn may have been erased. */
  get asks(): boolean {
    return this.#events.some(({ turn, erased, message }) => turn === this.turn && message.role === "user" && !erased);
  }

  get state(): JsonObject {
    return this.#state;
  }

  /** @throws ThreadkeeperError `NOT_PLAIN_JSON` */
  set state(next: JsonObject) {
    this.#state = plainJson(next, "state");
  }

  /** Takes over the events as they were stored, with their places. */
  saved(events: readonly SessionEvent[]): void {
    this.#events = events;
  }

  /** @throws ThreadkeeperError `NOT_PLAIN_JSON` */
  addEvent(message: ModelMessage): SessionEvent {
    const event: SessionEvent = {
      id: randomId(),
      at: new Date().toISOString(),
      turn: this.turn,
      message: plainJson(message, "message"),
    };
    this.#events = [...this.#events, event];
    return event;
  }
}

/** Who asked, if one person did. */
export function askerOf(inputs: readonly CoveredInput[]): Author | undefined {
  const author = inputs.at(-1)?.author;
  return inputs.every((input) => input.author?.id === author?.id) ? author : undefined;
}
