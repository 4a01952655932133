import { nobody } from "../control.ts";
import { openKey, openPrefix, parseOpenKey } from "../session-record.ts";
import type { Store } from "../store/store.ts";

export interface OpenSearch {
  readonly store: Store;
  /** Whose sessions are read although it is there. */
  readonly mine: string;
  isGone(ownerId: string): Promise<boolean>;
}

export interface OpenSessions {
  /** Those that have a run of ours. */
  readonly mine: ReadonlySet<string>;
  /** Those that are nobody's: their owner is gone, or inputs wait and nobody runs. */
  readonly nobodys: readonly string[];
}

/** How many of nobody's sessions are read, at most, before others are left for the next time. */
const limit = 1000;

/** Sessions in which there is something to do, without those of others that are there. */
export async function findOpenSessions({ store, mine, isGone }: OpenSearch): Promise<OpenSessions> {
  const found = { mine: new Set<string>(), nobodys: [] as string[] };
  let after = "";
  for (;;) {
    const page = (await store.keys(openPrefix, { after, limit })).map(parseOpenKey);
    const [first] = page;
    if (!first) return found;
    const { owner } = first;
    if (owner !== mine && owner !== nobody && !(await isGone(owner))) {
      after = endOf(owner);
      continue;
    }
    for (const open of page) {
      if (open.owner !== owner) break;
      if (owner === mine) found.mine.add(open.sessionId);
      else if (found.nobodys.length < limit) found.nobodys.push(open.sessionId);
      after = found.nobodys.length < limit || owner === mine ? openKey(owner, open.sessionId) : endOf(owner);
    }
  }
}

/** Behind all keys of an owner: the character that follows the slash. */
function endOf(owner: string): string {
  return `${openPrefix}${owner}0`;
}
