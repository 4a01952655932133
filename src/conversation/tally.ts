import { hasCode } from "../errors.ts";
import type { Conversation } from "./conversation.ts";
import type { TurnEvent } from "./turn-event.ts";

/** What went through a conversation. */
export interface Tally {
  /** Sessions in which a turn began. */
  readonly threads: number;
  readonly turns: number;
  readonly inputTokens: number;
  /** The part of these that was read from the provider's cache. */
  readonly cachedInputTokens: number;
  /** The part that was written to it. */
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly errors: number;
}

export interface Tallied {
  readonly conversation: Conversation;
  /** What went through since this was last called. */
  readonly readTally: () => Tally;
}

/** The same conversation, whose events are counted as they pass. */
export function tallied(conversation: Conversation): Tallied {
  const nothing = { turns: 0, inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, errors: 0 };
  const threads = new Set<string>();
  let tally = { ...nothing };

  function count(sessionId: string, event: TurnEvent): void {
    switch (event.type) {
      case "turn-start":
        threads.add(sessionId);
        tally.turns += 1;
        break;
      case "turn-end":
        tally.inputTokens += event.usage.inputTokens;
        tally.cachedInputTokens += event.usage.cachedInputTokens;
        tally.cacheWriteTokens += event.usage.cacheWriteTokens;
        tally.outputTokens += event.usage.outputTokens;
        break;
      case "turn-failed":
        if (!hasCode(event.error, "RUN_STOPPED")) tally.errors += 1;
        break;
      case "notice":
        if (event.reason === "failed") tally.errors += 1;
    }
  }

  function counted(sessionId: string, events: AsyncIterable<TurnEvent>): AsyncIterable<TurnEvent> {
    return {
      [Symbol.asyncIterator]() {
        const iterator = events[Symbol.asyncIterator]();
        return {
          async next() {
            const step = await iterator.next();
            if (!step.done) count(sessionId, step.value);
            return step;
          },
          // To leave must reach the run itself, also while it is being pulled.
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  }

  return {
    conversation: {
      memory: conversation.memory,
      handle: (inbound, prepare) => counted(inbound.sessionId, conversation.handle(inbound, prepare)),
      resume: (sessionId) => counted(sessionId, conversation.resume(sessionId)),
      close: (graceMs) => conversation.close(graceMs),
    },
    readTally() {
      const read = { threads: threads.size, ...tally };
      threads.clear();
      tally = { ...nothing };
      return read;
    },
  };
}
