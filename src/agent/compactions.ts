import { toThreadkeeperError } from "../errors.ts";
import type { LoadOptions, Run, SessionManager } from "../session/session-manager.ts";
import { raceAbort } from "./abort-race.ts";
import type { AgentEvent } from "./agent-event.ts";
import { startDeadline } from "./deadline.ts";
import type { ModelWindow } from "./model-window.ts";
import { summarise } from "./summarise.ts";
import type { TurnPlan } from "./turn.ts";

/** What there may be to tell behind the turns. */
export type Coming = Promise<AgentEvent | undefined>;

/** What came, one after the other; nothing, if the reader goes away before it is known. */
export async function* toldOf(coming: readonly Coming[], signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
  for (const each of coming) {
    const event = await raceAbort(each, signal).catch(() => undefined);
    if (event) yield event;
  }
}

/**
 * Makes room in sessions that have grown past their budget, beside the turns and never in their way: the older turns
 * are summarised, or left out if the model can't. A commit moves the start of what the next turn is shown; if the
 * session was reset, rewound, erased in or summarised meanwhile, nothing happens.
 */
export class Compactions {
  readonly #sessions: SessionManager;
  readonly #plan: TurnPlan;
  readonly #load: LoadOptions;
  readonly #running = new Map<string, Coming>();
  readonly #end = new AbortController();

  constructor(sessions: SessionManager, plan: TurnPlan, load: LoadOptions) {
    this.#sessions = sessions;
    this.#plan = plan;
    this.#load = load;
  }

  /**
   * Begins behind a turn that has shown that its window is past the budget, unless one is under way in the session or
   * the end has come. Never rejects; resolves to what there is to tell.
   */
  start(run: Run, window: ModelWindow): Coming {
    const { sessionId } = run.session;
    if (this.#running.has(sessionId) || this.#end.signal.aborted) return Promise.resolve(undefined);
    const running = this.#safely(run, window).finally(() => this.#running.delete(sessionId));
    this.#running.set(sessionId, running);
    return running;
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** What is under way comes to nothing and changes nothing; nothing begins any more. */
  end(): void {
    this.#end.abort();
  }

  async #safely(run: Run, window: ModelWindow): Promise<AgentEvent | undefined> {
    try {
      return await this.#compact(run, window);
    } catch (thrown) {
      const { sessionId } = run.session;
      const { code, fields, message } = toThreadkeeperError(thrown);
      this.#plan.log.warn({ ...fields, code, sessionId }, `a long conversation was not made shorter: ${message}`);
      return undefined;
    }
  }

  async #compact({ turn, inputs, session: { sessionId } }: Run, window: ModelWindow): Promise<AgentEvent | undefined> {
    // As it is now: another process may have done it, and the turn that follows may have begun.
    const session = await this.#sessions.get(sessionId, this.#load);
    const events = session ? window.tooOld(session.events) : [];
    const last = events.at(-1);
    if (!session || last?.seq === undefined) return undefined;
    const deadline = startDeadline(this.#plan.deadlineMs);
    const signal = AbortSignal.any([this.#end.signal, deadline.signal]);
    const bounds = { windowBytes: window.budgetBytes, signal };
    const { text, usage, error } = await summarise(this.#plan, { before: session.summary?.text, events }, bounds);
    deadline.clear();
    if (this.#end.signal.aborted) return undefined;
    const about = { sessionId, upTo: last.seq + 1, ...usage };
    if (error !== undefined) {
      const { code, message } = toThreadkeeperError(error);
      this.#plan.log.warn({ ...about, code }, `the older part of a conversation could not be summarised: ${message}`);
      // Another turn or two fit, and the model may be better then.
      if (!window.isFarPast(session.events)) return undefined;
    }
    const isStored = await this.#sessions.summarise(session, { upTo: about.upTo, ...(text !== undefined && { text }) });
    if (!isStored) return undefined;
    this.#plan.log.info(about, "the older part of a conversation is shown as a summary from now on");
    if (session.summary) return undefined;
    const older = text === undefined ? "nothing" : "summary";
    return { type: "summarised", turn, replyTo: inputs.at(-1)?.replyTo, older };
  }
}
