import { hasCode, ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import type { Input, LoadOptions, Run, SessionManager } from "../session/session-manager.ts";
import { abortReason } from "./abort-race.ts";
import type { AgentEvent, CallFailed } from "./agent-event.ts";
import { type Coming, Compactions, toldOf } from "./compactions.ts";
import { askerOf, ExecutionContext } from "./execution-context.ts";
import { ModelWindow } from "./model-window.ts";
import { answerTurn, failCall, type TurnPlan } from "./turn.ts";
import { tellAgain } from "./turn-end.ts";
import { type Call, type Outcome, WaitingCalls, type Word } from "./waiting-calls.ts";

/**
 * How much is loaded, in bytes as stored: so far above the budget that it is summaries alone that move the window's
 * start, and one call's bytes go on being the first of the next one's. Also where some results are very large: what is
 * not loaded can't be summarised.
 */
const [loadedBytesPerToken, fewestLoadedBytes] = [16, 524_288];

export interface SessionCall {
  readonly sessionId: string;
  /** Absent: takes up what waits. */
  readonly input: Input | undefined;
  readonly create: boolean;
  readonly signal: AbortSignal;
  /** Whether somebody reads on behind the last turn, to be told that the conversation has grown long. */
  readonly listens: boolean;
  readonly onTaken: (() => void) | undefined;
}

/**
 * Continuity around the loop: takes the right to run on a session, answers, hands it on. Each call drives the turns
 * that it took or was handed; a call whose input another call's turn answers waits for that turn and yields nothing.
 */
export class SessionCalls {
  readonly #sessions: SessionManager;
  readonly #plan: TurnPlan;
  readonly #load: LoadOptions;
  readonly #calls = new WaitingCalls();
  readonly #compactions: Compactions;
  #retired = false;

  constructor(sessions: SessionManager, plan: TurnPlan) {
    this.#sessions = sessions;
    this.#plan = plan;
    this.#load = { maxBytes: Math.max(fewestLoadedBytes, plan.windowTokens * loadedBytesPerToken) };
    this.#compactions = new Compactions(sessions, plan, this.#load);
  }

  /** From now on no run is started: inputs are only stored, and what waits, waits on. No summary is made any more. */
  retire(): void {
    this.#retired = true;
    this.#compactions.end();
  }

  /** Resolves when no conversation is being summarised. */
  idle(): Promise<void> {
    return this.#compactions.idle();
  }

  /** Never throws. */
  async *events(request: SessionCall): AsyncGenerator<AgentEvent | CallFailed, Outcome> {
    const coming: Coming[] = [];
    const outcome = yield* this.#turns(request, coming);
    if (request.listens) yield* toldOf(coming, request.signal);
    return outcome;
  }

  async *#turns(request: SessionCall, grown: Coming[]): AsyncGenerator<AgentEvent | CallFailed, Outcome> {
    const { sessionId, input, signal } = request;
    let call = this.#calls.enter(sessionId, input?.id);
    let coming = this.#ask(call, request);
    for (;;) {
      let word: Word;
      let failure: ThreadkeeperError | undefined;
      try {
        word = await coming;
        while ("again" in word) {
          call = word.again;
          word = await this.#lookAgain(call, signal);
        }
      } catch (thrown) {
        const error = toThreadkeeperError(thrown);
        // The store may have taken the input and then failed to say so, and somebody has handed this call its run.
        word = call.told ?? { outcome: { error } };
        if (!call.told) failure = error;
      }
      // Before anything is yielded: who reads it may pull no more.
      this.#calls.leave(call);
      if (failure) yield failCall(this.#plan.log, failure, sessionId);
      if (!("run" in word)) return "outcome" in word ? word.outcome : undefined;
      const { run } = word;
      if (input === undefined || run.inputs.some(({ id }) => id === input.id)) {
        return yield* this.#drive(call, run, signal, grown);
      }
      // It took over what somebody left, and its own input waits behind that.
      call = this.#calls.enter(sessionId, input.id);
      coming = this.#wait(call, signal);
      try {
        yield* this.#drive(call, run, signal, grown);
      } finally {
        // Where the reader went away, the signal has told the call so.
        if (signal.aborted) this.#calls.leave(call);
      }
    }
  }

  /** Goes to the store with the input, and waits if somebody runs. */
  async #ask(call: Call, { sessionId, input, create, signal, onTaken }: SessionCall): Promise<Word> {
    if (signal.aborted) throw abortReason(signal);
    const taken = await this.#sessions.take(sessionId, input, { ...this.#load, create, start: !this.#retired });
    onTaken?.();
    if (taken.outcome === "run") return this.#takeUp(call, taken.run);
    if (taken.outcome === "full") {
      throw new ThreadkeeperError("QUEUE_FULL", `${taken.limit} inputs wait in session ${sessionId} already`, {
        fields: { sessionId, limit: taken.limit },
      });
    }
    if (taken.outcome === "idle") return { outcome: undefined };
    const waits = (taken.outcome === "waiting" && !this.#retired) || this.#calls.isAnsweredHere(call);
    return waits ? this.#wait(call, signal) : { outcome: undefined };
  }

  /** Takes up what waits, this call's input among it; nothing comes of the call if somebody else has it. */
  async #lookAgain(call: Call, signal: AbortSignal): Promise<Word> {
    if (this.#retired) return { outcome: undefined };
    const taken = await this.#sessions.take(call.sessionId, undefined, this.#load);
    if (taken.outcome === "run") return this.#takeUp(call, taken.run);
    return this.#calls.hasOthers(call) ? this.#wait(call, signal) : { outcome: undefined };
  }

  #takeUp(call: Call, run: Run): Word {
    this.#calls.drives(call, run);
    return { run };
  }

  async #wait(call: Call, signal: AbortSignal): Promise<Word> {
    // Its input is stored and will be answered all the same.
    const abort = () => call.tell({ outcome: { error: abortReason(signal) } });
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    this.#calls.waits(call);
    try {
      return await call.word;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /**
   * Drives a run, and then those that nobody waits for, until it is aborted. The outcome is the first one's. At the end
   * of the process a turn is left as it is, for the process that comes after.
   */
  async *#drive(call: Call, first: Run, signal: AbortSignal, grown: Coming[]): AsyncGenerator<AgentEvent, Outcome> {
    const isShutdown = () => hasCode(signal.reason, "RUN_SHUTDOWN");
    let outcome: Outcome;
    let next: Run | undefined = isShutdown() ? this.#release(first) : first;
    while (next) {
      const run: Run = next;
      next = yield* this.#answer(call, run, signal, {
        settled: (result) => {
          if (run === first) outcome = result;
        },
        grown: (window) => grown.push(this.#compactions.start(run, window)),
      });
    }
    return outcome ?? (isShutdown() ? { error: abortReason(signal) } : undefined);
  }

  /** One run, until it is given back or let go of. Returns the next one if it falls to this call as well. */
  async *#answer(
    call: Call,
    run: Run,
    signal: AbortSignal,
    told: { settled(outcome: Outcome): void; grown(window: ModelWindow): void },
  ): AsyncGenerator<AgentEvent, Run | undefined> {
    const { turn, inputs, resumed, ended } = run;
    let { session } = run;
    const { sessionId, events, state } = session;
    const context = new ExecutionContext({ turn, author: askerOf(inputs), events, state });
    // A run may be taken away from outside of this call, too.
    const window = new ModelWindow(this.#plan, session);
    const ending = run.signal ? AbortSignal.any([signal, run.signal]) : signal;
    let isOpen = true;
    let isAnswered = false;
    let next: Run | undefined;
    const settle = (outcome: Outcome) => {
      isOpen = false;
      isAnswered = outcome !== undefined && "result" in outcome;
      told.settled(outcome);
      this.#calls.settle(run, outcome);
    };
    try {
      if (ended) yield* tellAgain({ context, inputs, ended, settle });
      else {
        yield* answerTurn(this.#plan, {
          context,
          inputs,
          resumed,
          signal: ending,
          window,
          sessionId,
          isShared: inputs.some(({ id }) => id !== call.inputId),
          save: async (end) => {
            session = await this.#sessions.save(
              { ...session, events: context.events, state: context.state },
              { run, ...(end && { ended: end }) },
            );
            context.saved(session.events);
          },
          settle,
        });
      }
    } finally {
      if (isOpen) this.#release(run);
      else {
        next = await this.#finish(run, signal);
        if (isAnswered && window.isPastBudget) told.grown(window);
      }
      // What ended this turn ends the call, and nothing runs that nobody reads.
      if (next && signal.aborted) next = this.#release(next);
    }
    return next;
  }

  /** Gives the run back. Returns the next one if nobody waits for it. */
  async #finish(run: Run, signal: AbortSignal): Promise<Run | undefined> {
    let next: Run | undefined;
    try {
      next = await this.#sessions.finish(run, { ...this.#load, start: !this.#retired && !signal.aborted });
    } catch (error) {
      // Whoever takes the session next takes the run over.
      const { code, fields, message } = toThreadkeeperError(error);
      const { sessionId } = run.session;
      this.#plan.log.error({ ...fields, code, sessionId, turn: run.turn }, `a run was not finished: ${message}`);
    }
    return this.#calls.handOver(run, next);
  }

  /** Leaves the run as it is stored: the first who waits takes it over, or else whoever comes next. */
  #release(run: Run): undefined {
    this.#sessions.release(run);
    this.#calls.handOver(run, undefined);
  }
}
