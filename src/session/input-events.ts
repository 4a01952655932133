import type { WaitingInput } from "./control.ts";
import type { ContextMessage, SessionEvent } from "./session-event.ts";
import { deepFreeze } from "./session-record.ts";

/**
 * What was said, as events that follow `earlier`. Of the context that came with it, what stands in the session already
 * (as an event, as an earlier context, or as another of these inputs) is left out, so that nothing appears twice.
 */
export function inputEvents(
  inputs: readonly WaitingInput[],
  turn: string,
  firstSeq: number,
  earlier: readonly SessionEvent[],
): SessionEvent[] {
  const known = new Set(inputs.map((input) => input.id));
  const someHaveContext = inputs.some(({ context = [] }) => context.length > 0);
  for (const event of someHaveContext ? earlier : []) {
    known.add(event.id);
    for (const message of event.context ?? []) known.add(message.id);
  }
  return inputs.map(({ id, at, author, content, context = [] }, index) => {
    const fresh: ContextMessage[] = [];
    for (const message of context) {
      if (!known.has(message.id)) fresh.push(message);
      known.add(message.id);
    }
    return deepFreeze({
      id,
      seq: firstSeq + index,
      at,
      turn,
      ...(author && { author }),
      ...(fresh.length > 0 && { context: fresh }),
      message: { role: "user" as const, content },
    });
  });
}
