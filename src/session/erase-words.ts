import { type Control, withoutWords } from "./control.ts";
import { wholeEvents } from "./event-page.ts";
import { randomId } from "./random-id.ts";
import type { SessionChanges, Step } from "./session-changes.ts";
import type { SessionEvent } from "./session-event.ts";
import { parseSaidKey, saidKey, saidPrefix } from "./session-index.ts";
import { largeKeys } from "./session-keys.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store } from "./store/store.ts";

/**
 * Takes words out of every session that holds them, in one commit each. What fails in one session holds up no other:
 * its error is thrown when all the others are done.
 */
export async function eraseWords(store: Store, changes: SessionChanges, ids: readonly string[]): Promise<string[]> {
  const seen = new Set<string>();
  const changed: string[] = [];
  const errors: unknown[] = [];
  // Looked for again when they are gone where they were: one of those sessions may have been forked before that.
  for (let found = await findWords(store, ids); found.size > 0; found = await findWords(store, ids, seen)) {
    for (const [sessionId, said] of found) {
      seen.add(sessionId);
      try {
        const erased = await changes.change<boolean>(sessionId, async (control) =>
          control ? eraseIn(store, sessionId, control, said) : { result: false },
        );
        if (erased) changed.push(sessionId);
      } catch (error) {
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return changed.sort();
}

/** Which of these ids are said in which sessions, but for those that were `seen`. */
async function findWords(
  store: Store,
  ids: readonly string[],
  seen: ReadonlySet<string> = new Set(),
): Promise<Map<string, Set<string>>> {
  const idsIn = new Map<string, Set<string>>();
  for (const id of new Set(ids)) {
    for await (const page of keyPages(store, saidPrefix(id))) {
      for (const { sessionId } of page.map(parseSaidKey)) {
        if (!seen.has(sessionId)) idsIn.set(sessionId, (idsIn.get(sessionId) ?? new Set()).add(id));
      }
    }
  }
  return idsIn;
}

async function eraseIn(
  store: Store,
  sessionId: string,
  control: Control,
  ids: ReadonlySet<string>,
): Promise<Step<boolean> | "moved"> {
  const remove: string[] = [];
  const seqs = new Set<number>();
  let waits = false;
  // What they stand in is asked anew each time: what waited a moment ago may be an event now.
  for (const id of ids) {
    for await (const page of keyPages(store, `${saidPrefix(id)}${sessionId}/`)) {
      for (const { seq } of page.map(parseSaidKey)) {
        if (seq === undefined) waits = true;
        else {
          seqs.add(seq);
          remove.push(saidKey(id, sessionId, seq));
        }
      }
    }
  }
  if (seqs.size === 0 && !waits) return { result: false };
  const events = await wholeEvents(store, sessionId, control.revision, [...seqs]);
  if (!events) return "moved";
  for (const seq of seqs) remove.push(...(await largeKeys(store, sessionId, seq, seq + 1)));
  return {
    next: withoutWords(control, ids, Math.min(...seqs), randomId()),
    replaced: events.map((event) => eraseFrom(event, ids)),
    remove,
    forget: true,
    result: true,
  };
}

/** What is left keeps its place, so that the order of all others stays, and its turn, so that it can be rewound. */
function eraseFrom({ author, context, ...event }: SessionEvent, ids: ReadonlySet<string>): SessionEvent {
  const others = (context ?? []).filter(({ id }) => !ids.has(id));
  const left = { ...event, ...(others.length > 0 && { context: others }) };
  if (!ids.has(event.id)) return { ...left, ...(author && { author }) };
  return { ...left, erased: true, message: { role: "user", content: "" } };
}
