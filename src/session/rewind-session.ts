import { type Control, rewound } from "./control.ts";
import { pageSize, seqsBetween } from "./event-page.ts";
import { findTurn } from "./find-turn.ts";
import { randomId } from "./random-id.ts";
import type { Step } from "./session-changes.ts";
import { saidKeys } from "./session-index.ts";
import { largeKeys } from "./session-keys.ts";
import type { Rewound } from "./session-manager.ts";
import { eventKey } from "./session-record.ts";
import type { Store } from "./store/store.ts";
import { readEvents } from "./stored-events.ts";

/** A turn and all after it go, with every key that they had. */
export async function rewindSession(
  store: Store,
  sessionId: string,
  control: Control,
  turn: string | undefined,
): Promise<Step<Rewound | undefined> | "moved"> {
  const place = await findTurn(store, sessionId, control, turn);
  if (place === "moved") return "moved";
  if (!place) return { result: undefined };
  const remove: string[] = [];
  const inputs: string[] = [];
  for (let from = place.from; from < control.count; from += pageSize) {
    const seqs = seqsBetween(from, Math.min(from + pageSize, control.count));
    const page = await readEvents(store, sessionId, control.revision, seqs);
    if (!page) return "moved";
    for (const { event } of page) {
      remove.push(eventKey(sessionId, event.seq as number), ...saidKeys(sessionId, event));
      if (event.message.role === "user") inputs.push(event.id);
    }
  }
  const large = await largeKeys(store, sessionId, place.from);
  const next = rewound(control, place.from, randomId());
  return { next, remove: [...remove, ...large], forget: true, result: { turn: place.turn, inputs } };
}
