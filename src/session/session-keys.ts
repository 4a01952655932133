import { hasCode } from "../errors.ts";
import type { SessionEvent } from "./session-event.ts";
import { saidKeys, speakerPrefix, userKeyOf } from "./session-index.ts";
import { eventPrefix, largeKey, largePrefix, openPrefix, parseEvent, seqOfKey, summaryKey } from "./session-record.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store } from "./store/store.ts";

/**
 * All keys of a session but its control's and those that follow from the control: what has to go with it. Rows that a
 * damaged event had can only be found among everybody's, and `isDamaged` says that the control has lost its own too.
 */
export async function sessionKeys(store: Store, sessionId: string, isDamaged = false): Promise<string[]> {
  // Also what a bot with a plain Keyv may have written once more after the session was moved in: it would come back.
  const keys: string[] = [summaryKey(sessionId), sessionId];
  let isWhole = !isDamaged;
  for await (const page of keyPages(store, eventPrefix(sessionId))) {
    keys.push(...page);
    for (const event of await readEvents(store, sessionId, page)) {
      if (event) keys.push(...saidKeys(sessionId, event));
      else isWhole = false;
    }
  }
  for await (const page of keyPages(store, largePrefix(sessionId))) keys.push(...page);
  for await (const page of keyPages(store, speakerPrefix(sessionId))) keys.push(...page, ...page.map(userKeyOf));
  for (const prefix of [...(isWhole ? [] : ["said/"]), ...(isDamaged ? ["place/", openPrefix] : [])]) {
    // In all of these the session is the third part.
    for await (const page of keyPages(store, prefix))
      keys.push(...page.filter((key) => key.split("/")[2] === sessionId));
  }
  return keys;
}

/** Keys of the large values of the events from `from` up to `to`. */
export async function largeKeys(
  store: Store,
  sessionId: string,
  from: number,
  to = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of keyPages(store, largePrefix(sessionId), largeKey(sessionId, from, 0).slice(0, -1))) {
    const own = page.filter((key) => seqOfKey(key) < to);
    keys.push(...own);
    if (own.length < page.length) break;
  }
  return keys;
}

/** `undefined`: it is damaged. */
async function readEvents(
  store: Store,
  sessionId: string,
  keys: readonly string[],
): Promise<(SessionEvent | undefined)[]> {
  const values = await store.get(keys);
  return keys.map((key, index) => {
    try {
      return parseEvent(sessionId, seqOfKey(key), values[index]?.value).event;
    } catch (error) {
      if (hasCode(error, "STORE_CORRUPT")) return undefined;
      throw error;
    }
  });
}
