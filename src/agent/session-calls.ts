import { hasCode, ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import type { Input, LoadOptions, Run, SessionManager } from "../session/session-manager.ts";
import { abortReason } from "./abort-race.ts";
import type { AgentEvent, CallFailed } from "./agent-event.ts";
import { ExecutionContext } from "./execution-context.ts";
import { answerTurn, failCall, type TurnPlan } from "./turn.ts";
import { type Call, type Outcome, WaitingCalls, type Word } from "./waiting-calls.ts";

const neverAborted = new AbortController().signal;

export interface SessionCall {
  readonly sessionId: string;
  /** Absent: takes up what waits. */
  readonly input: Input | undefined;
  readonly create: boolean;
  readonly signal: AbortSignal;
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

  constructor(sessions: SessionManager, plan: TurnPlan) {
    this.#sessions = sessions;
    this.#plan = plan;
    this.#load = { maxBytes: plan.windowBytes };
  }

  /** Never throws. */
  async *events(request: SessionCall): AsyncGenerator<AgentEvent | CallFailed, Outcome> {
    const { sessionId, input, signal } = request;
    let call = this.#calls.enter(sessionId, input?.id);
    let word: Word;
    try {
      word = await this.#ask(call, request);
      while ("again" in word) {
        call = word.again;
        word = await this.#lookAgain(call, signal);
      }
    } catch (thrown) {
      const error = toThreadkeeperError(thrown);
      // The store may have taken the input and then failed to say so, and somebody has handed this call its run.
      word = call.told ?? { outcome: { error } };
      if (!call.told) yield failCall(this.#plan.log, error, sessionId);
    } finally {
      this.#calls.leave(call);
    }
    if ("run" in word) return yield* this.#drive(word.run, signal);
    return "outcome" in word ? word.outcome : undefined;
  }

  /** Goes to the store with the input, and waits if somebody runs. */
  async #ask(call: Call, { sessionId, input, create, signal, onTaken }: SessionCall): Promise<Word> {
    if (signal.aborted) throw abortReason(signal);
    const taken = await this.#sessions.take(sessionId, input, { ...this.#load, create });
    onTaken?.();
    if (taken.outcome === "run") return this.#takeUp(call, taken.run);
    if (taken.outcome === "full") {
      throw new ThreadkeeperError("QUEUE_FULL", `${taken.limit} inputs wait in session ${sessionId} already`, {
        fields: { sessionId, limit: taken.limit },
      });
    }
    const waits = taken.outcome === "waiting" || (taken.outcome === "known" && this.#calls.isAnsweredHere(call));
    return waits ? this.#wait(call, signal) : { outcome: undefined };
  }

  /** Takes up what waits, this call's input among it; nothing comes of the call if somebody else has it. */
  async #lookAgain(call: Call, signal: AbortSignal): Promise<Word> {
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

  /** Drives a run, and then those that nobody waits for. The outcome is the first one's. */
  async *#drive(first: Run, signal: AbortSignal): AsyncGenerator<AgentEvent, Outcome> {
    let outcome: Outcome;
    let run: Run | undefined = first;
    try {
      while (run) {
        if (hasCode(signal.reason, "RUN_SHUTDOWN")) {
          // It stays as it is stored, for the process that comes after.
          this.#calls.handOver(run, undefined);
          run = undefined;
          break;
        }
        const current: Run = run;
        // A stop was meant for the turn that it ended, not for the one after.
        const stop = signal.aborted && current !== first ? neverAborted : signal;
        yield* this.#turn(current, stop, (result) => {
          if (current === first) outcome = result;
        });
        run = undefined;
        run = await this.#finish(current);
      }
    } finally {
      if (run) this.#driveUnheard(await this.#finish(run));
    }
    return outcome;
  }

  async *#turn(run: Run, signal: AbortSignal, settled: (outcome: Outcome) => void): AsyncGenerator<AgentEvent, void> {
    const { turn, inputs } = run;
    let { session } = run;
    const { sessionId, events, state } = session;
    const context = new ExecutionContext({ turn, author: inputs.at(-1)?.author, events, state });
    yield* answerTurn(this.#plan, {
      context,
      inputs,
      signal,
      sessionId,
      save: async (ended) => {
        session = await this.#sessions.save(
          { ...session, events: context.events, state: context.state },
          { run, ended },
        );
        context.saved(session.events);
      },
      settle: (outcome) => {
        settled(outcome);
        this.#calls.settle(run, outcome);
      },
    });
  }

  /** Gives the run back. Returns the next one if nobody waits for it. */
  async #finish(run: Run): Promise<Run | undefined> {
    let next: Run | undefined;
    try {
      next = await this.#sessions.finish(run, this.#load);
    } catch (error) {
      // Whoever takes the session next takes the run over.
      const { code, fields, message } = toThreadkeeperError(error);
      const { sessionId } = run.session;
      this.#plan.log.error({ ...fields, code, sessionId, turn: run.turn }, `a run was not finished: ${message}`);
    }
    return this.#calls.handOver(run, next);
  }

  /** For a run that fell to a call whose consumer has gone away: it is answered and saved, and nobody sees it come. */
  async #driveUnheard(run: Run | undefined): Promise<void> {
    if (!run) return;
    const events = this.#drive(run, neverAborted);
    while (!(await events.next()).done);
  }
}
