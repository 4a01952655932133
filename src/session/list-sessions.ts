import { hasCode } from "../errors.ts";
import { parseHour, placePrefix, startOfHour, userPrefix } from "./session-index.ts";
import type { ListOptions, SessionEntry } from "./session-manager.ts";
import { controlPrefix, parseControl } from "./session-record.ts";
import type { Store, Stored } from "./store/store.ts";

interface Found {
  readonly sessionId: string;
  /** When something was last said; absent: never, or it cannot be told. */
  readonly hour: number | undefined;
}

/** Finds sessions by the rows of the index, or, where no place or person is asked for, by their controls. */
export async function listSessions(store: Store, options: ListOptions): Promise<SessionEntry[]> {
  const { place, user, activeSince, limit = 1000 } = options;
  const rows = [
    ...(place === undefined ? [] : [placePrefix(place)]),
    ...(user === undefined ? [] : [userPrefix(user)]),
  ];
  const [prefix = controlPrefix, other] = rows;
  const entries: SessionEntry[] = [];
  let after = options.after === undefined ? "" : `${prefix}${options.after}`;
  while (entries.length < limit) {
    const keys = await store.keys(prefix, { after, limit: Math.min(Math.max(limit, 100), 1000) });
    for (const { sessionId, hour } of await read(store, keys, prefix, other)) {
      if (activeSince && !(hour !== undefined && startOfHour(hour + 1) > activeSince)) continue;
      entries.push({ sessionId, ...(hour !== undefined && { active: startOfHour(hour).toISOString() }) });
    }
    after = keys.at(-1) ?? "";
    if (after === "") break;
  }
  return entries.slice(0, limit);
}

/** Of the sessions with these keys those that have a row under `other` too, if there is one. */
async function read(
  store: Store,
  keys: readonly string[],
  prefix: string,
  other: string | undefined,
): Promise<Found[]> {
  const ids = keys.map((key) => key.slice(prefix.length));
  const values = await store.get(keys);
  const others = other === undefined ? values : await store.get(ids.map((id) => `${other}${id}`));
  return ids.flatMap((sessionId, index) => {
    const value = values[index];
    if (!value || !others[index]) return [];
    return { sessionId, hour: hourIn(prefix, sessionId, value) };
  });
}

/** A session whose record is damaged, or newer than this program, is one all the same. */
function hourIn(prefix: string, sessionId: string, { value }: Stored): number | undefined {
  try {
    if (prefix === controlPrefix) return parseControl(sessionId, value).active?.hour;
    return parseHour(`${prefix}${sessionId}`, value);
  } catch (error) {
    if (hasCode(error, "STORE_CORRUPT", "STORE_FORMAT_NEWER")) return undefined;
    throw error;
  }
}
