import type { Control } from "./control.ts";
import { pageSize, seqsBetween } from "./event-page.ts";
import type { Store } from "./store/store.ts";
import { readEvents } from "./stored-events.ts";

/** The events of one turn, next to each other. */
export interface TurnPlace {
  readonly turn: string;
  /** Its first event, by `seq`. */
  readonly from: number;
  /** The event behind its last one. */
  readonly to: number;
}

/**
 * Where a turn stands, the last one if none is named; looked for from the end. `undefined`: nowhere.
 * `"moved"`: the session changed meanwhile, so that `control` must be read again.
 */
export async function findTurn(
  store: Store,
  sessionId: string,
  { revision, count }: Control,
  named?: string,
): Promise<TurnPlace | undefined | "moved"> {
  let turn = named;
  let to: number | undefined;
  for (let end = count; end > 0; end -= pageSize) {
    const seqs = seqsBetween(Math.max(0, end - pageSize), end).reverse();
    const page = await readEvents(store, sessionId, revision, seqs);
    if (!page) return "moved";
    for (const [index, { event }] of page.entries()) {
      const seq = seqs[index] as number;
      turn ??= event.turn;
      if (event.turn === turn) to ??= seq + 1;
      else if (to !== undefined) return { turn, from: seq + 1, to };
    }
  }
  return turn === undefined || to === undefined ? undefined : { turn, from: 0, to };
}
