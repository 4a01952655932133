import type { AgentEvent, AgentResult, CallFailed } from "./agent-event.ts";
import { ConsumerGone } from "./turn.ts";
import type { Outcome } from "./waiting-calls.ts";

/** What happens in a call, as it is pulled; returns the call's result. */
export type AgentStream = AsyncGenerator<AgentEvent | CallFailed, AgentResult | undefined>;
export type OutcomeStream = AsyncGenerator<AgentEvent | CallFailed, Outcome>;

/**
 * Opens a stream that can be left at any moment. A plain generator's `return()` queues behind a `next()` that is
 * under way, so a hung provider would hold whoever wants to leave; here it aborts the run first.
 */
export function openStream(
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => OutcomeStream,
): AgentStream {
  const left = new AbortController();
  const events = start(signal ? AbortSignal.any([signal, left.signal]) : left.signal);
  const translate = async (
    pulled: Promise<IteratorResult<AgentEvent | CallFailed, Outcome>>,
  ): Promise<IteratorResult<AgentEvent | CallFailed, AgentResult | undefined>> => {
    const step = await pulled;
    if (!step.done) return step;
    return { done: true, value: step.value && "result" in step.value ? step.value.result : undefined };
  };
  const leave = async () => {
    left.abort(new ConsumerGone());
    return translate(events.return(undefined));
  };
  return {
    next: () => translate(events.next()),
    return: leave,
    async throw(error) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
