import { hasCode, toThreadkeeperError } from "../errors.ts";
import { type Control, openUnder } from "./control.ts";
import { parseNaive } from "./naive-session.ts";
import { isOlder } from "./session-format.ts";
import { parseSaidKey, saidKeys } from "./session-index.ts";
import {
  controlKey,
  eventKey,
  largeKey,
  openKey,
  openPrefix,
  ownerKey,
  ownerPrefix,
  parseControl,
  parseEvent,
  parseOpenKey,
  parseRecord,
  seqOfKey,
  summaryKey,
} from "./session-record.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store } from "./store/store.ts";
import { sessionIds } from "./store-walk.ts";

/** Something in a store that is not as it should be. */
export interface Finding {
  /** `undefined`: it is about no session. */
  readonly sessionId?: string | undefined;
  /** One sentence, with what to do where it does not mend itself. */
  readonly message: string;
}

const later = "it is taken up when a bot starts";

/**
 * Reads all that a store holds and tells what is wrong in it; changes nothing. What a bot writes meanwhile may look
 * wrong, so that none should be at work.
 */
export async function* checkStore(store: Store): AsyncGenerator<Finding> {
  const controls = new Map<string, Control | undefined>();
  for await (const sessionId of sessionIds(store)) {
    if (controls.has(sessionId)) continue;
    const { control, isOlder, findings } = await checkControl(store, sessionId);
    controls.set(sessionId, control);
    yield* findings;
    if (control) yield* checkEvents(store, sessionId, control, isOlder);
  }
  for await (const page of keyPages(store, "event/")) yield* checkOrphans(page, controls, "an event");
  for await (const page of keyPages(store, "summary/")) yield* checkOrphans(page, controls, "a summary");
  for await (const page of keyPages(store, "large/")) {
    yield* checkOrphans(page, controls, "a large value");
    yield* checkLarge(store, page, controls);
  }
  for (const prefix of ["place/", "user/", "speaker/", "said/"]) {
    for await (const page of keyPages(store, prefix)) yield* checkIndex(store, page, controls);
  }
  yield* checkOwners(store, controls);
}

interface Checked {
  readonly control: Control | undefined;
  /** It has no rows yet by which it is found: it gets them when it is used next. */
  readonly isOlder?: boolean;
  readonly findings: readonly Finding[];
}

async function checkControl(store: Store, sessionId: string): Promise<Checked> {
  const [stored, summary, naive] = await store.get([controlKey(sessionId), summaryKey(sessionId), sessionId]);
  try {
    // What a plain Keyv kept has no keys but its own.
    if (!stored) return { control: naive && { ...parseNaive(sessionId, naive.value).control, count: 0 }, findings: [] };
    const control = parseControl(sessionId, stored.value, { summary: summary?.value });
    const findings: Finding[] = [];
    if (summary && control.summary?.text === undefined)
      findings.push(about(sessionId, "has a summary that it does not know of"));
    const owner = openUnder(control);
    const rows = owner === undefined ? [] : [openKey(owner, sessionId), ownerKey(owner)];
    const [open, present] = await store.get(rows);
    if (owner !== undefined && !open)
      findings.push(about(sessionId, "has work to do, and is not in the list of those"));
    if (control.run && !present) findings.push(about(sessionId, `has a run of a process that is gone; ${later}`));
    return { control, isOlder: isOlder(stored.value), findings };
  } catch (error) {
    return { control: undefined, findings: [{ sessionId, message: sentence(error) }] };
  }
}

async function* checkEvents(
  store: Store,
  sessionId: string,
  { count }: Control,
  isOlder = false,
): AsyncGenerator<Finding> {
  for (let from = 0; from < count; from += 256) {
    const seqs = Array.from({ length: Math.min(256, count - from) }, (_, index) => from + index);
    const values = await store.get(seqs.map((seq) => eventKey(sessionId, seq)));
    const rows: { readonly key: string; readonly message: string }[] = [];
    for (const [index, seq] of seqs.entries()) {
      try {
        const { event, large } = parseEvent(sessionId, seq, values[index]?.value);
        for (const n of large.keys())
          rows.push({ key: largeKey(sessionId, seq, n), message: `large value ${n} of event ${seq}` });
        for (const key of isOlder ? [] : saidKeys(sessionId, event))
          rows.push({ key, message: `the row by which event ${seq} is found` });
      } catch (error) {
        yield { sessionId, message: sentence(error) };
      }
    }
    const there = await store.get(rows.map(({ key }) => key));
    for (const [index, { message }] of rows.entries()) {
      if (there[index]?.value === undefined) yield about(sessionId, `lacks ${message}, or it cannot be read`);
    }
  }
}

type Controls = ReadonlyMap<string, Control | undefined>;

function* checkOrphans(keys: readonly string[], controls: Controls, what: string): Generator<Finding> {
  for (const key of keys) {
    const sessionId = key.split("/")[1] ?? "";
    const control = controls.get(sessionId);
    if (!controls.has(sessionId)) yield about(sessionId, `does not exist, but ${what} of it does: ${key}`);
    else if (control && seqOfKey(key) >= control.count) yield about(sessionId, `has ${what} behind its end: ${key}`);
  }
}

/** Large values that no event speaks of. Those of events that cannot be read are spared. */
async function* checkLarge(store: Store, keys: readonly string[], controls: Controls): AsyncGenerator<Finding> {
  const own = keys.filter((key) => {
    const control = controls.get(key.split("/")[1] ?? "");
    return control && seqOfKey(key) < control.count;
  });
  const places = own.map((key) => ({ key, sessionId: key.split("/")[1] ?? "", seq: seqOfKey(key) }));
  const values = await store.get(places.map(({ sessionId, seq }) => eventKey(sessionId, seq)));
  for (const [index, { key, sessionId, seq }] of places.entries()) {
    try {
      const { large } = parseEvent(sessionId, seq, values[index]?.value);
      const known = large.map((_, n) => largeKey(sessionId, seq, n));
      if (!known.includes(key)) yield about(sessionId, `has a large value that no event has: ${key}`);
    } catch (error) {
      if (!hasCode(error, "STORE_CORRUPT", "STORE_FORMAT_NEWER")) throw error;
    }
  }
}

async function* checkIndex(store: Store, keys: readonly string[], controls: Controls): AsyncGenerator<Finding> {
  const values = await store.get(keys);
  for (const [index, key] of keys.entries()) {
    const sessionId = sessionOfRow(key);
    if (!controls.has(sessionId)) yield about(sessionId, `does not exist, but is in the index: ${key}`);
    try {
      if (values[index]) parseRecord(values[index].value, key, sessionId);
    } catch (error) {
      yield { sessionId, message: sentence(error) };
    }
    const control = controls.get(sessionId);
    const { seq } = key.startsWith("said/") ? parseSaidKey(key) : { seq: undefined };
    if (control && seq !== undefined && seq >= control.count) {
      yield about(sessionId, `is in the index with an event behind its end: ${key}`);
    }
  }
}

async function* checkOwners(store: Store, controls: Controls): AsyncGenerator<Finding> {
  for await (const page of keyPages(store, ownerPrefix)) {
    for (const [index, stored] of (await store.get(page)).entries()) {
      try {
        if (stored) parseRecord(stored.value, page[index] as string);
      } catch (error) {
        yield { message: sentence(error) };
      }
    }
  }
  for await (const page of keyPages(store, openPrefix)) {
    for (const key of page) {
      const { owner, sessionId } = parseOpenKey(key);
      const control = controls.get(sessionId);
      if (!controls.has(sessionId)) yield about(sessionId, `does not exist, but is in the list of work: ${key}`);
      else if (control && openUnder(control) !== owner)
        yield about(sessionId, `is in the list of work for nothing: ${key}`);
    }
  }
}

function sessionOfRow(key: string): string {
  const [prefix, second = "", third = ""] = key.split("/");
  return prefix === "speaker" ? second : third;
}

function about(sessionId: string, what: string): Finding {
  return { sessionId, message: `session ${sessionId} ${what}` };
}

function sentence(error: unknown): string {
  if (hasCode(error, "STORE_CORRUPT", "STORE_FORMAT_NEWER", "SESSION_ID_INVALID")) return error.message;
  throw toThreadkeeperError(error);
}
