/**
 * By what sessions are found that are not asked for by their id: who said what in them, and where they lie. Every row
 * is written and removed by the commit that makes it true or untrue:
 *
 *     said/<id>/<session>/<seq>  event `seq` holds these words, its own or as context; "-": they wait
 *     place/<place>/<session>    the session lies in this place
 *     user/<user>/<session>      somebody said something in it
 *     speaker/<session>/<user>   there is that row, so that it can be removed without reading what was ever said
 *
 * Place and user rows tell the hour in which something was last said, and are written anew when that changes.
 */
import type { Control } from "./control.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Input } from "./session-manager.ts";
import { formatRecord, parseRecord } from "./session-record.ts";
import { sha256 } from "./sha256.ts";
import { withProperties } from "./with-properties.ts";

type Said = Pick<Input, "id" | "author" | "context">;

/** How many of an hour's people the control names, so that each turn of theirs doesn't write their rows again. */
const maxUsers = 16;
const hourMs = 3_600_000;
const waits = "-";

export const saidPrefix = (id: string): string => `said/${keyPart(id)}/`;
export const saidKey = (id: string, sessionId: string, seq: number | typeof waits): string =>
  `${saidPrefix(id)}${sessionId}/${seq}`;
export function parseSaidKey(key: string): { sessionId: string; seq: number | undefined } {
  const [, , sessionId = "", seq] = key.split("/");
  return { sessionId, seq: seq === waits ? undefined : Number(seq) };
}
export const placePrefix = (place: string): string => `place/${keyPart(place)}/`;
export const userPrefix = (user: string): string => `user/${keyPart(user)}/`;
export const speakerPrefix = (sessionId: string): string => `speaker/${sessionId}/`;
/** The user row of which a speaker row tells. */
export function userKeyOf(speakerKey: string): string {
  const [, sessionId = "", user = ""] = speakerKey.split("/");
  return `user/${user}/${sessionId}`;
}

export const hourOf = (ms: number): number => Math.floor(ms / hourMs);
export const startOfHour = (hour: number): Date => new Date(hour * hourMs);
/** The hour that a place or user row tells. @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export const parseHour = (key: string, text: string | undefined): number => Number(parseRecord(text, key)["hour"] ?? 0);

/** What the index needs when `before` becomes `after`, and the control that should be stored instead of `after`. */
export interface Indexed<After> {
  readonly control: After;
  readonly put: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

/**
 * Pure. `events` are those that `after` has more than `before`. Rows of events that go away are the affair of who takes
 * them away, and so are those of their speakers.
 */
export function indexed<After extends Control | null>(
  sessionId: string,
  before: Control | undefined,
  after: After,
  events: readonly SessionEvent[],
  hour: number,
): Indexed<After> {
  const put = new Map<string, string>();
  const remove: string[] = [];

  const waited = waitingKeys(sessionId, before);
  const waiting = waitingKeys(sessionId, after);
  for (const key of waiting) if (!waited.has(key)) put.set(key, formatRecord({}));
  for (const key of waited) if (!waiting.has(key)) remove.push(key);
  for (const event of events) for (const key of saidKeys(sessionId, event)) put.set(key, formatRecord({}));

  const said = after ? newWords(before, after, events) : [];
  const last = after?.active;
  const active = said.length > 0 && last?.hour !== hour ? { hour, users: [] } : last;
  const fresh = [...new Set(said.flatMap(speakers))].filter((user) => !active?.users.includes(user));
  for (const user of fresh) {
    put.set(`${userPrefix(user)}${sessionId}`, formatRecord({ hour }));
    put.set(`${speakerPrefix(sessionId)}${keyPart(user)}`, formatRecord({}));
  }

  const places = after?.places ?? [];
  for (const place of places) {
    const isUpToDate = active?.hour === before?.active?.hour && before?.places?.includes(place);
    if (!isUpToDate) put.set(`${placePrefix(place)}${sessionId}`, formatRecord({ hour: active?.hour }));
  }
  for (const place of before?.places ?? []) {
    if (!places.includes(place)) remove.push(`${placePrefix(place)}${sessionId}`);
  }

  const control =
    after && active
      ? withProperties(after, { active: { ...active, users: [...active.users, ...fresh].slice(-maxUsers) } })
      : after;
  return { control: control as After, put, remove };
}

/** The rows of a user's words: their own, and those of the context that came with them. */
export function saidKeys(sessionId: string, { id, seq, message, erased, context = [] }: SessionEvent): string[] {
  const own = message.role === "user" && !erased ? [id] : [];
  return [...own, ...context.map((each) => each.id)].map((each) => saidKey(each, sessionId, seq ?? waits));
}

function waitingKeys(sessionId: string, control: Control | null | undefined): Set<string> {
  const ids = (control?.waiting ?? []).flatMap(({ id, context = [] }) => [id, ...context.map((each) => each.id)]);
  return new Set(ids.map((id) => saidKey(id, sessionId, waits)));
}

/** What is said with this change, and not what only moves from the queue to the events. */
function newWords(before: Control | undefined, after: Control, events: readonly SessionEvent[]): Said[] {
  const waited = new Set(before?.waiting.map(({ id }) => id));
  return [...after.waiting, ...events].filter(({ id }) => !waited.has(id));
}

function speakers({ author, context = [] }: Said): string[] {
  return [...(author ? [author.id] : []), ...context.map((each) => each.author.id)];
}

/**
 * Any string as a part of a key. What would be too long, or would not come back from UTF-8, is told by its hash, and
 * so is what looks like one.
 */
function keyPart(text: string): string {
  const encoded = /\p{Surrogate}/u.test(text) ? "" : encodeURIComponent(text);
  if (encoded !== "" && encoded.length <= 100 && !encoded.startsWith("~")) return encoded;
  return `~${sha256(text)}`;
}
