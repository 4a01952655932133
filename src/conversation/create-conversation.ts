import { abortReason, raceAbort } from "../agent/abort-race.ts";
import type { Agent, ResumeOptions } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import { failCall } from "../agent/turn.ts";
import { hasCode, ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import { Lanes } from "../lanes.ts";
import { type Logger, silentLogger } from "../log.ts";
import type { Json } from "../session/plain-json.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { withAttachments } from "./attachment-note.ts";
import { type Begun, Call } from "./call.ts";
import { Calls } from "./calls.ts";
import type { Conversation } from "./conversation.ts";
import { fork } from "./fork.ts";
import { type Inbound, type InboundOf, type Prepare, type Prepared, saysNothing } from "./inbound.ts";
import type { Memory } from "./memory.ts";
import { reset } from "./reset.ts";
import { SessionMemory } from "./session-memory.ts";
import { stop } from "./stop.ts";
import type { Notice, NoticeReason, TurnEvent } from "./turn-event.ts";
import { undo } from "./undo.ts";

export interface ConversationOptions {
  readonly agent: Agent;
  /** The agent's own. */
  readonly sessions: SessionManager;
  /** How long the preparation of a turn may take, in milliseconds. Default 60,000. */
  readonly prepareMs?: number;
  /** How long `close` waits for the last views of ended runs to be drawn, in milliseconds. Default 5,000. */
  readonly lastWordsMs?: number;
  readonly log?: Logger;
}

/** A call of the agent that is ready to begin: in which session, and where its failure is told. */
interface Ready {
  readonly sessionId: string;
  readonly replyTo?: Json;
  open(options: Required<ResumeOptions>): AgentStream;
}
type GetReady = (call: Call) => Promise<Ready>;

/** After these a session has no run any more. */
const freeing: ReadonlySet<Notice["reason"]> = new Set(["stopped", "interrupted", "undone"]);

export function createConversation(options: ConversationOptions): Conversation {
  return new AgentConversation(options);
}

class AgentConversation implements Conversation {
  readonly memory: Memory;
  readonly #agent: Agent;
  readonly #sessions: SessionManager;
  readonly #prepareMs: number;
  readonly #lastWordsMs: number;
  readonly #log: Logger;
  /** A call leaves its session's lane when the store has its input: places are fixed there, runs go on outside. */
  readonly #lanes = new Lanes();
  readonly #calls = new Calls();
  #closed = false;

  constructor({ agent, sessions, prepareMs = 60_000, lastWordsMs = 5_000, log = silentLogger }: ConversationOptions) {
    this.#agent = agent;
    this.#sessions = sessions;
    this.#prepareMs = prepareMs;
    this.#lastWordsMs = lastWordsMs;
    this.#log = log;
    this.memory = new SessionMemory(sessions, this.#calls);
  }

  handle(inbound: Inbound, prepare: Prepare = async () => ({})): AsyncIterable<TurnEvent> {
    switch (inbound.kind) {
      case "message":
        return this.#message(inbound, prepare);
      case "reset":
        return once(this.#told(inbound, reset(this.#sessions, this.#calls, inbound)));
      case "stop":
        return this.#thenWhatWaits(inbound.sessionId, this.#told(inbound, stop(this.#sessions, this.#calls, inbound)));
      case "undo":
        return this.#thenWhatWaits(inbound.sessionId, this.#told(inbound, undo(this.#sessions, this.#calls, inbound)));
      case "fork": {
        const open = () => this.#prepared(prepare, new AbortController().signal);
        return once(this.#told(inbound, fork(this.#sessions, inbound, open)));
      }
    }
  }

  resume(sessionId: string): AsyncIterable<TurnEvent> {
    const open = (options: Required<ResumeOptions>) => this.#agent.resume(sessionId, options);
    return this.#call(sessionId, undefined, async () => ({ sessionId, open }));
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#agent.retire();
    if (await this.#calls.allDone(graceMs)) return;
    this.#calls.abortAll(shutdown());
    if (await this.#calls.allDone(this.#lastWordsMs)) return;
    this.#log.warn({ calls: this.#calls.size }, "answers that nobody reads to their end are left behind");
  }

  #message(inbound: InboundOf<"message">, prepare: Prepare): AsyncIterable<TurnEvent> {
    if (saysNothing(inbound)) return once(this.#told(inbound, Promise.resolve({ reason: "nothing-said" })));
    return this.#call(inbound.sessionId, inbound, async (call) => {
      const prepared = await this.#prepared(prepare, call.signal);
      const { sessionId = inbound.sessionId, replyTo = inbound.replyTo, context } = prepared;
      return {
        sessionId,
        replyTo,
        open: (options) => {
          const { id: eventId, author, text, attachments, places } = call.handOver() ?? inbound;
          const about = { sessionId, create: true, author, eventId, replyTo, places, ...(context && { context }) };
          return this.#agent.stream(withAttachments(text, attachments), { ...about, ...options });
        },
      };
    });
  }

  /** @throws ThreadkeeperError also what ended it early */
  async #prepared(prepare: Prepare, signal: AbortSignal): Promise<Prepared> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooLate(this.#prepareMs)), this.#prepareMs);
    const either = AbortSignal.any([signal, late.signal]);
    try {
      if (signal.aborted) throw abortReason(signal);
      return await raceAbort(prepare(either), either);
    } finally {
      clearTimeout(timer);
    }
  }

  #call(sessionId: string, message: InboundOf<"message"> | undefined, getReady: GetReady): AsyncIterable<TurnEvent> {
    const isLate = this.#closed;
    const call = new Call(sessionId, message, async (self) =>
      isLate ? undefined : this.#lanes.run(sessionId, () => this.#begin(self, getReady)),
    );
    this.#calls.add(call);
    return call;
  }

  /** In the lane: prepares, and stays until the store has the input. Never rejects. */
  async #begin(call: Call, getReady: GetReady): Promise<Begun | Notice | undefined> {
    try {
      const { sessionId, replyTo, open } = await getReady(call);
      const take = async (): Promise<Begun> => {
        if (call.signal.aborted) throw abortReason(call.signal);
        const stream = open({ signal: call.signal, onTaken: () => call.take() });
        const first = call.pull(stream);
        await Promise.race([call.stored, first]);
        return { stream, first, ...(replyTo !== undefined && { replyTo }) };
      };
      if (sessionId === call.sessionId) return await take();
      call.sessionId = sessionId;
      return await this.#lanes.run(sessionId, take);
    } catch (thrown) {
      const error = call.signal.aborted ? abortReason(call.signal) : thrown;
      // Its reader is gone, or what it would have answered.
      if (!call.message || hasCode(error, "RUN_STOPPED", "RUN_LOST")) return undefined;
      return this.#failed(call.sessionId, call.message.replyTo, error);
    }
  }

  /** A stop's or undo's notice; then, once the session is free, what waits in it and has no call here that brings it on. */
  async *#thenWhatWaits(sessionId: string, told: Promise<Notice>): AsyncGenerator<TurnEvent, void> {
    const notice = await told;
    yield notice;
    if (!freeing.has(notice.reason)) return;
    const stopped = this.#calls.takenIn(sessionId).filter(({ signal }) => hasCode(signal.reason, "RUN_STOPPED"));
    await Promise.all(stopped.map(({ done }) => done));
    yield* this.resume(sessionId);
  }

  /** Never rejects. */
  #told({ sessionId, replyTo }: Inbound, reason: Promise<NoticeReason>): Promise<Notice> {
    return reason.then(
      (known): Notice => ({ type: "notice", replyTo, ...known }),
      (error: unknown) => this.#failed(sessionId, replyTo, error),
    );
  }

  #failed(sessionId: string, replyTo: Json, thrown: unknown): Notice {
    const { error, reference } = failCall(this.#log, toThreadkeeperError(thrown), sessionId);
    return { type: "notice", replyTo, reason: "failed", error, reference };
  }
}

async function* once<T>(value: Promise<T>): AsyncGenerator<T, void> {
  yield await value;
}

function shutdown(): ThreadkeeperError {
  return new ThreadkeeperError("RUN_SHUTDOWN", "the process is about to end");
}

function tooLate(prepareMs: number): ThreadkeeperError {
  return new ThreadkeeperError("RUN_DEADLINE", `the preparation of a turn took longer than ${prepareMs / 1000} s`);
}
