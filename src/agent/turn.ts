import { hasCode, ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { randomId } from "../session/random-id.ts";
import type { CoveredInput, TurnEnd } from "../session/session-manager.ts";
import { abortReason } from "./abort-race.ts";
import type { AgentEvent, CallFailed } from "./agent-event.ts";
import { startDeadline } from "./deadline.ts";
import type { ExecutionContext } from "./execution-context.ts";
import { type Answer, type LoopPlan, runLoop } from "./loop.ts";
import { providerTextOf } from "./model-error.ts";
import type { ModelWindow, WindowPlan } from "./model-window.ts";
import { answeredEnd, failedEnd } from "./turn-end.ts";
import type { Outcome } from "./waiting-calls.ts";

export interface TurnPlan extends LoopPlan, WindowPlan {
  /** How long a turn may take, in milliseconds that a timer can count. */
  readonly deadlineMs: number;
}

export interface Turn {
  readonly context: ExecutionContext;
  readonly inputs: readonly CoveredInput[];
  /** It was begun by somebody who is gone. */
  readonly resumed?: true | undefined;
  /** Aborted by a stop, a reset or a shutdown; the reason says which. */
  readonly signal: AbortSignal;
  readonly window: ModelWindow;
  /** For the log. */
  readonly sessionId: string | undefined;
  /** Whether it answers others than the one who reads it. Whoever goes away does not end such a turn. */
  readonly isShared: boolean;
  /** Stores what the context has that is not stored; `ended`: the turn is complete. */
  save(ended?: TurnEnd): Promise<void>;
  /**
   * Called once, as soon as it is known what came of the turn, before that is told. Never, if it is left open, since
   * its reader went away from others' turn too, or the process ends: what is done is saved, and it goes on elsewhere.
   */
  settle(outcome: Outcome): void;
}

/**
 * One turn from start to end, whatever happens in it: never throws, and leaves in the session the users' words, the
 * calls and results that were completed, and either the whole answer or none. Only a stop keeps the part that was
 * said, since people have read it; a consumer that goes away in the middle of its own turn counts as a stop.
 */
export async function* answerTurn(plan: TurnPlan, turn: Turn): AsyncGenerator<AgentEvent, void> {
  const { context, inputs, resumed, sessionId } = turn;
  const deadline = startDeadline(plan.deadlineMs);
  const signal = AbortSignal.any([turn.signal, deadline.signal]);
  let answer: Answer | undefined;
  let isOver = false;
  const end = (whole: Answer): AgentEvent => {
    isOver = true;
    const events = context.events.filter((event) => event.turn === context.turn);
    turn.settle({ result: { turn: context.turn, ...whole, events } });
    return { type: "turn-end", turn: context.turn, ...whole };
  };
  const fail = async (error: ThreadkeeperError): Promise<AgentEvent | undefined> => {
    isOver = true;
    const staysOpen = goesOnElsewhere(turn);
    const reference = randomId().slice(0, 6);
    const failed = staysOpen ? undefined : failedEnd(error, reference);
    const notKept = await keepWhatIsDone(turn, error, answer ? answeredEnd(answer) : failed);
    // Only the save of the whole answer had failed, and it did not fail again.
    if (answer && !notKept) return end(answer);
    // Keeping may have shown that the run was taken away meanwhile.
    const told = hasCode(notKept, "RUN_LOST") ? notKept : error;
    if (staysOpen) return undefined;
    turn.settle({ error: told });
    if (hasCode(told, "RUN_LOST")) return undefined;
    report(plan.log, told, reference, { turn: context.turn, sessionId });
    return { type: "turn-failed", turn: context.turn, error: told, reference };
  };
  try {
    if (!context.asks) throw nothingToAnswer();
    const replyTo = inputs.at(-1)?.replyTo;
    yield { type: "turn-start", turn: context.turn, replyTo, inputs, ...(resumed && { resumed }) };
    answer = yield* runLoop(context, plan, { signal, window: turn.window, save: () => turn.save() });
    await turn.save(answeredEnd(answer));
    yield end(answer);
  } catch (error) {
    const last = await fail(toThreadkeeperError(error));
    if (last) yield last;
  } finally {
    deadline.clear();
    if (!isOver) await fail(abortReason(signal));
  }
}

/** What ends it here does not end it: somebody else is there, or will be, who takes it up. */
function goesOnElsewhere({ signal, isShared, sessionId }: Turn): boolean {
  if (signal.reason instanceof ConsumerGone) return isShared;
  return sessionId !== undefined && hasCode(signal.reason, "RUN_SHUTDOWN");
}

/** The reason for a run whose consumer stopped pulling. */
export class ConsumerGone extends ThreadkeeperError {
  constructor() {
    super("RUN_STOPPED", "nobody reads the run's events any more");
  }
}

/** Logs a call that came to nothing before any turn, and makes the event that tells of it. */
export function failCall(log: Logger, error: ThreadkeeperError, sessionId: string | undefined): CallFailed {
  const reference = randomId().slice(0, 6);
  report(log, error, reference, { sessionId });
  return { type: "call-failed", error, reference };
}

/** The error that kept it from being saved, if one did. */
async function keepWhatIsDone(
  { context, save }: Turn,
  error: ThreadkeeperError,
  ended: TurnEnd | undefined,
): Promise<ThreadkeeperError | undefined> {
  if (hasCode(error, "RUN_LOST")) return error;
  if (ended && hasCode(error, "RUN_STOPPED") && context.unfinishedText.trim() !== "") {
    context.addEvent({ role: "assistant", content: context.unfinishedText });
  }
  try {
    await save(ended);
    return undefined;
  } catch (saving) {
    return toThreadkeeperError(saving);
  }
}

function report(
  log: Logger,
  error: ThreadkeeperError,
  reference: string,
  where: Record<string, string | undefined>,
): void {
  const { code, fields, message, cause } = error;
  const level = hasCode(error, "RUN_STOPPED", "RUN_SHUTDOWN", "QUEUE_FULL") ? "info" : "error";
  log[level]({ ...fields, ...where, code, reference }, message);
  // What others said may quote the conversation, so that it is not for the log of every day.
  const providerText = providerTextOf(cause);
  if (providerText !== undefined) log.debug({ reference, providerText }, "what the model's provider said");
  if (cause !== undefined) log.trace({ reference, err: cause }, "the cause");
}

/** A silent end: who asked took it back while nobody was at work on it. */
function nothingToAnswer(): ThreadkeeperError {
  return new ThreadkeeperError("RUN_LOST", "what this turn was to answer was erased");
}
