import { ThreadkeeperError } from "../errors.ts";
import { type Control, openUnder } from "./control.ts";
import { firstEvents } from "./event-page.ts";
import { parseNaive } from "./naive-session.ts";
import type { JsonObject } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import { checkSessionId } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import { format } from "./session-format.ts";
import { hourOf, indexed } from "./session-index.ts";
import {
  controlKey,
  corrupt,
  eventRows,
  eventShape,
  formatControl,
  formatRecord,
  openKey,
  parseControl,
  summaryKey,
} from "./session-record.ts";
import type { Store } from "./store/store.ts";

/** All that is kept of a session, as it can be carried into another store. */
export interface WholeSession {
  readonly sessionId: string;
  /** Its control record, without what is only true of the store that it is in. */
  readonly record: JsonObject;
  readonly events: readonly SessionEvent[];
}

const maxReads = 20;

/**
 * @returns `undefined` if there is no such session
 * @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER`; `STORE_BUSY` if it never stands still
 */
export async function readWholeSession(store: Store, sessionId: string): Promise<WholeSession | undefined> {
  checkSessionId(sessionId);
  for (let reads = 0; reads < maxReads; reads++) {
    const [stored, summary, naive] = await store.get([controlKey(sessionId), summaryKey(sessionId), sessionId]);
    if (!stored && !naive) return undefined;
    if (!stored) {
      const { control, naive: kept } = parseNaive(sessionId, naive?.value);
      return { sessionId, record: portable(control), events: kept.events };
    }
    const control = parseControl(sessionId, stored.value, { summary: summary?.value });
    const events = await firstEvents(store, sessionId, control.revision, control.count);
    if (events) return { sessionId, record: portable(control), events };
  }
  throw new ThreadkeeperError("STORE_BUSY", `session ${sessionId} changes all the time: stop the bot, and try again`, {
    fields: { sessionId },
  });
}

/**
 * Puts a session into a store as it was elsewhere, under a new revision and found by all that it is found by; in one
 * commit, so that there is never half of it. `false`: there is one with this id, which is left as it is.
 * @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` if the session is none
 */
export async function writeWholeSession(store: Store, whole: WholeSession): Promise<boolean> {
  const { sessionId, events } = whole;
  const key = controlKey(checkSessionId(sessionId));
  for (const [seq, event] of events.entries()) checkEvent(sessionId, seq, event);
  const { active, ...control } = controlFrom(sessionId, whole.record, events.length);
  const hour = active?.hour ?? hourOf(Date.parse(events.at(-1)?.at ?? "") || Date.now());
  const index = indexed(sessionId, undefined, control, events, hour);
  const put = new Map(index.put);
  for (const event of events) for (const [row, value] of eventRows(sessionId, event)) put.set(row, value);
  const owner = openUnder(control);
  if (owner !== undefined) put.set(openKey(owner, sessionId), formatRecord({}));
  put.set(key, formatControl(index.control));
  const summary = index.control.summary?.text;
  if (summary !== undefined) put.set(summaryKey(sessionId), summary);
  const [, naive] = await store.get([key, sessionId]);
  return naive ? false : (await store.commit({ key, was: undefined, put })) !== undefined;
}

/** @throws ThreadkeeperError `STORE_CORRUPT` */
export function checkEvent(sessionId: string, seq: number, event: unknown): SessionEvent {
  const wrong = eventShape(event);
  if (wrong !== undefined) throw corrupt(`event ${seq} of session ${sessionId} is not one (${wrong})`, sessionId);
  if ((event as SessionEvent).seq === seq) return event as SessionEvent;
  throw corrupt(`event ${seq} of session ${sessionId} is another one`, sessionId);
}

/** The control with which a session begins anew. @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export function controlFrom(sessionId: string, record: JsonObject, count: number): Control {
  return parseControl(sessionId, JSON.stringify({ ...record, revision: randomId(), saves: 0, count }));
}

function portable({ revision: _revision, saves: _saves, count: _count, active, ...control }: Control): JsonObject {
  const kept = { format, ...control, ...(active && { active: { hour: active.hour, users: [] } }) };
  return JSON.parse(JSON.stringify(kept));
}
