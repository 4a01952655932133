import { abortReason, raceAbort } from "../agent/abort-race.ts";
import type { Agent, ResumeOptions } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import { failCall } from "../agent/turn.ts";
import { hasCode, ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import { type Logger, silentLogger } from "../log.ts";
import { Lanes } from "../session/lanes.ts";
import type { Json } from "../session/plain-json.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { withAttachments } from "./attachment-note.ts";
import { type Begun, Call } from "./call.ts";
import type { Conversation } from "./conversation.ts";
import type { Inbound, Prepare, Prepared } from "./inbound.ts";
import type { Notice, NoticeReason, TurnEvent } from "./turn-event.ts";

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

type Kind<K extends Inbound["kind"]> = Extract<Inbound, { readonly kind: K }>;
/** Begins a call of the agent with these options, in which session; where its failure is told. */
type Start = (options: Required<ResumeOptions>) => Promise<{ stream: AgentStream; sessionId: string; replyTo?: Json }>;

export function createConversation(options: ConversationOptions): Conversation {
  return new AgentConversation(options);
}

class AgentConversation implements Conversation {
  readonly #agent: Agent;
  readonly #sessions: SessionManager;
  readonly #prepareMs: number;
  readonly #lastWordsMs: number;
  readonly #log: Logger;
  /** A call leaves its session's lane when the store has its input: places are fixed there, runs go on outside. */
  readonly #lanes = new Lanes();
  readonly #calls = new Set<Call>();
  #closed = false;

  constructor({ agent, sessions, prepareMs = 60_000, lastWordsMs = 5_000, log = silentLogger }: ConversationOptions) {
    this.#agent = agent;
    this.#sessions = sessions;
    this.#prepareMs = prepareMs;
    this.#lastWordsMs = lastWordsMs;
    this.#log = log;
  }

  handle(inbound: Inbound, prepare: Prepare = async () => ({})): AsyncIterable<TurnEvent> {
    switch (inbound.kind) {
      case "message":
        return this.#message(inbound, prepare);
      case "reset":
        return once(this.#told(inbound, this.#reset(inbound)));
      case "stop":
        return this.#thenWhatWaits(inbound.sessionId, this.#told(inbound, this.#stop(inbound)));
    }
  }

  resume(sessionId: string): AsyncIterable<TurnEvent> {
    return this.#call(sessionId, async (options) => ({ sessionId, stream: this.#agent.resume(sessionId, options) }));
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#agent.retire();
    if (await this.#allDone(graceMs)) return;
    for (const call of this.#calls) call.abort(shutdown());
    if (await this.#allDone(this.#lastWordsMs)) return;
    this.#log.warn({ calls: this.#calls.size }, "answers that nobody reads to their end are left behind");
  }

  #message(inbound: Kind<"message">, prepare: Prepare): AsyncIterable<TurnEvent> {
    const { id: eventId, author, text, attachments } = inbound;
    if (/^[\s\p{Cc}\p{Cf}]*$/u.test(text) && attachments.length === 0) {
      return once(this.#told(inbound, Promise.resolve({ reason: "nothing-said" })));
    }
    return this.#call(
      inbound.sessionId,
      async (options) => {
        const prepared = await this.#prepared(prepare, options.signal);
        const { sessionId = inbound.sessionId, replyTo = inbound.replyTo, context } = prepared;
        const about = { sessionId, create: true, author, eventId, replyTo, ...(context && { context }) };
        const stream = this.#agent.stream(withAttachments(text, attachments), { ...about, ...options });
        return { stream, sessionId, replyTo };
      },
      inbound.replyTo,
    );
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

  #call(sessionId: string, start: Start, replyTo?: Json): AsyncIterable<TurnEvent> {
    const isLate = this.#closed;
    const call = new Call(sessionId, async (self) =>
      isLate ? undefined : this.#lanes.run(sessionId, () => this.#begin(self, start, replyTo)),
    );
    this.#calls.add(call);
    void call.done.then(() => this.#calls.delete(call));
    return call;
  }

  /** In the lane: prepares, and stays until the store has the input. Never rejects. */
  async #begin(call: Call, start: Start, replyTo: Json | undefined): Promise<Begun | Notice | undefined> {
    let onTaken = () => {};
    const taken = new Promise<void>((resolve) => {
      onTaken = () => {
        call.taken = true;
        resolve();
      };
    });
    try {
      const begun = await start({ signal: call.signal, onTaken });
      const take = async () => {
        const first = call.pull(begun.stream);
        await Promise.race([taken, first]);
        return { ...begun, first };
      };
      if (begun.sessionId === call.sessionId) return await take();
      call.sessionId = begun.sessionId;
      return await this.#lanes.run(call.sessionId, take);
    } catch (thrown) {
      const error = call.signal.aborted ? abortReason(call.signal) : thrown;
      // Its reader is gone.
      if (replyTo === undefined || hasCode(error, "RUN_STOPPED")) return undefined;
      return this.#failed(call.sessionId, replyTo, error);
    }
  }

  /** Acts at once. The store forgets first, so that nothing which the run still writes is taken. */
  async #reset({ sessionId, privileged }: Kind<"reset">): Promise<NoticeReason> {
    if (!privileged) return { reason: "not-allowed", what: "reset" };
    const existed = await this.#sessions.reset(sessionId);
    for (const call of this.#callsIn(sessionId)) {
      call.abort(new ThreadkeeperError("RUN_LOST", "the session was reset", { fields: { sessionId } }));
    }
    return { reason: existed ? "forgotten" : "nothing-to-forget" };
  }

  /** Acts at once. What waits goes on: its turn begins when the stopped one is finished. */
  async #stop({ sessionId, author, privileged }: Kind<"stop">): Promise<NoticeReason> {
    const calls = this.#callsIn(sessionId);
    const running = calls.find(({ turn }) => turn);
    if (running) {
      const asked = running.turn?.some((input) => input.author?.id === author.id);
      if (!asked && !privileged) return { reason: "not-allowed", what: "stop" };
      running.abort(new ThreadkeeperError("RUN_STOPPED", "somebody stopped the run", { fields: { sessionId } }));
      return { reason: "stopped" };
    }
    // A run that belongs to nobody here: who asked for it is not known, so it takes the right to stop any.
    if (calls.length > 0 || !privileged) return { reason: "nothing-to-stop" };
    const freed = await this.#sessions.interrupt(sessionId);
    return { reason: freed.length > 0 ? "interrupted" : "nothing-to-stop" };
  }

  /** A stop's notice; then, once the session is free, what waits in it and has no call here that brings it on. */
  async *#thenWhatWaits(sessionId: string, told: Promise<Notice>): AsyncGenerator<TurnEvent, void> {
    const notice = await told;
    yield notice;
    if (notice.reason !== "stopped" && notice.reason !== "interrupted") return;
    const stopped = this.#callsIn(sessionId).filter(({ signal }) => hasCode(signal.reason, "RUN_STOPPED"));
    await Promise.all(stopped.map(({ done }) => done));
    yield* this.resume(sessionId);
  }

  /** The calls whose input the store has. */
  #callsIn(sessionId: string): Call[] {
    return [...this.#calls].filter((call) => call.taken && call.sessionId === sessionId);
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

  /** Whether everything ended in that time. */
  async #allDone(withinMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    const done = Promise.all(Array.from(this.#calls, ({ done }) => done)).then(() => true);
    try {
      return await Promise.race([done, late]);
    } finally {
      clearTimeout(timer);
    }
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
