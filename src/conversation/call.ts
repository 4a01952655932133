import type { AgentEvent, CallFailed } from "../agent/agent-event.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import { ConsumerGone } from "../agent/turn.ts";
import { hasCode, type ThreadkeeperError } from "../errors.ts";
import type { Json } from "../session/plain-json.ts";
import type { CoveredInput } from "../session/session-manager.ts";
import type { AttachmentNote, InboundOf } from "./inbound.ts";
import type { Notice, TurnEvent } from "./turn-event.ts";

/** A call that has its place: the agent's stream, whose first event has been asked for. */
export interface Begun {
  readonly stream: AgentStream;
  readonly first: ReturnType<AgentStream["next"]>;
  /** Where a failure is told; nowhere if absent. */
  readonly replyTo?: Json;
}

type Begin = (call: Call) => Promise<Begun | Notice | undefined>;

/** One call of the agent, from the moment in which it asks for its place until nothing of it goes on any more. */
export class Call implements AsyncIterable<TurnEvent> {
  /** Changes if its preparation finds out that it belongs to another one. */
  sessionId: string;
  /** What it brings; nothing if it takes up what waits. Until it is handed over it may be replaced. */
  message: InboundOf<"message"> | undefined;
  /** Whether the store has its input, so that a reset concerns it. */
  taken = false;
  /** The inputs of the turn that it drives right now. */
  turn: readonly CoveredInput[] | undefined;
  /** Whether it has driven a turn, which may be over and only have to be drawn. */
  hasRun = false;
  /** Resolves when nothing of it goes on any more. */
  readonly done: Promise<void>;
  /** Resolves when the store has its input, or never will. */
  readonly stored: Promise<void>;
  readonly #begun: Promise<Begun | Notice | undefined>;
  readonly #controller = new AbortController();
  #end: () => void = () => {};
  #onStored: () => void = () => {};
  #handedOver = false;
  #left = false;

  /** @param begin asks for the place at once; never rejects */
  constructor(sessionId: string, message: InboundOf<"message"> | undefined, begin: Begin) {
    this.sessionId = sessionId;
    this.message = message;
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.stored = new Promise((resolve) => {
      this.#onStored = resolve;
    });
    this.#begun = begin(this);
    void this.#begun.then(() => this.#onStored());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Hands its message over to the agent: from here on it can neither be replaced nor withdrawn. */
  handOver(): InboundOf<"message"> | undefined {
    this.#handedOver = true;
    return this.message;
  }

  /** The store has its input. */
  take(): void {
    this.taken = true;
    this.#onStored();
  }

  /** Its message says something else. `false`: it was handed over. */
  reword(text: string, attachments: readonly AttachmentNote[]): boolean {
    if (this.#handedOver || !this.message) return false;
    this.message = { ...this.message, text, attachments };
    return true;
  }

  /** Comes to nothing and says nothing. `false`: its message was handed over, and may be stored. */
  withdraw(reason: ThreadkeeperError): boolean {
    if (this.#handedOver) return false;
    this.abort(reason);
    return true;
  }

  /** Asks for the next event, and keeps in mind which turn is being answered. */
  async pull(stream: AgentStream): ReturnType<AgentStream["next"]> {
    const step = await stream.next();
    if (step.done) return step;
    if (step.value.type === "turn-start") {
      this.turn = step.value.inputs;
      this.hasRun = true;
    }
    if (step.value.type === "turn-end" || step.value.type === "turn-failed") this.turn = undefined;
    return step;
  }

  abort(reason: ThreadkeeperError): void {
    this.#controller.abort(reason);
  }

  [Symbol.asyncIterator](): AsyncIterator<TurnEvent, void> {
    const events = this.#events();
    return {
      next: () => events.next(),
      // A generator's own `return` waits behind a `next` that is under way, and does nothing if it was never started.
      return: () => {
        this.#leave();
        return events.return();
      },
    };
  }

  async *#events(): AsyncGenerator<TurnEvent, void> {
    try {
      const begun = await this.#begun;
      if (begun === undefined) return;
      if ("type" in begun) {
        yield begun;
        return;
      }
      for (let step = await begun.first; !step.done; step = await this.pull(begun.stream)) {
        const event = this.#told(step.value, begun.replyTo);
        if (event) yield event;
      }
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.turn = undefined;
    this.abort(new ConsumerGone());
    void this.#close();
  }

  async #close(): Promise<void> {
    const begun = await this.#begun;
    if (begun && "stream" in begun) await begun.stream.return(undefined);
    this.#end();
  }

  /** A call that was ended while its input waits, or since it was forgotten, is not told of. */
  #told(event: AgentEvent | CallFailed, replyTo: Json | undefined): TurnEvent | undefined {
    if (event.type !== "call-failed") return event;
    const { error, reference } = event;
    if (replyTo === undefined) return undefined;
    if (this.taken && hasCode(error, "RUN_LOST", "RUN_STOPPED", "RUN_SHUTDOWN")) return undefined;
    const limit = error.fields["limit"];
    if (hasCode(error, "QUEUE_FULL") && typeof limit === "number") {
      return { type: "notice", replyTo, reason: "queue-full", limit };
    }
    return { type: "notice", replyTo, reason: "failed", error, reference };
  }
}
