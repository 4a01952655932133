/**
 * How a session is laid out in the store. One small control record is its only commit point; each event has a
 * write-once key of its own, and those at or above the control's `count` don't exist.
 *
 *     control/<session>          what moves: count, state, what waits, who runs
 *     summary/<session>          the text of its summary, which the control only tells of
 *     event/<session>/<seq>      one entry of the conversation
 *     large/<session>/<seq>.<n>  a value of that entry which is too large to be read along with it
 *     said/…, place/…, user/…, speaker/…   by what a session is found: see `session-index.ts`
 *     open/<owner>/<session>     the session has a run of this owner, or inputs that wait ("-": no run)
 *     owner/<owner>              a process that is there: which one, and its newest beat
 *     alive/last                 when a process was last there and listening
 *
 * The slash stands in no session id, so no prefix of one session matches another's keys, and a bare session id is free
 * for what a plain Keyv may have kept there (`naive-session.ts`).
 */
import { ThreadkeeperError } from "../errors.ts";
import type { Control } from "./control.ts";
import { hasAtMost, type LargeValue, largeBytes, takeOut } from "./large-values.ts";
import type { JsonObject } from "./plain-json.ts";
import type { SessionEvent } from "./session-event.ts";
import { format, upgradeControl } from "./session-format.ts";
import { sha256 } from "./sha256.ts";
import { atMost, count, list, name, object, oneOf, optional, type Shape, text } from "./shape.ts";

const recordShape = object({ format: count });

export const controlPrefix = "control/";
export const controlKey = (sessionId: string): string => `${controlPrefix}${sessionId}`;
export const summaryKey = (sessionId: string): string => `summary/${sessionId}`;
export const eventPrefix = (sessionId: string): string => `event/${sessionId}/`;
export const eventKey = (sessionId: string, seq: number): string => `${eventPrefix(sessionId)}${place(seq)}`;
export const largePrefix = (sessionId: string): string => `large/${sessionId}/`;
export const largeKey = (sessionId: string, seq: number, n: number): string =>
  `${largePrefix(sessionId)}${place(seq)}.${n}`;
/** The place of the event that an event's key or a large value's is of. */
export const seqOfKey = (key: string): number => Number.parseInt(key.split("/")[2] ?? "", 10);
export const openPrefix = "open/";
export const openKey = (owner: string, sessionId: string): string => `${openPrefix}${owner}/${sessionId}`;
export function parseOpenKey(key: string): { owner: string; sessionId: string } {
  const [, owner = "", sessionId = ""] = key.split("/");
  return { owner, sessionId };
}
export const ownerPrefix = "owner/";
export const ownerKey = (owner: string): string => `${ownerPrefix}${owner}`;
export const parseOwnerKey = (key: string): string => key.slice(ownerPrefix.length);
export const aliveKey = "alive/last";

function place(seq: number): string {
  return String(seq).padStart(10, "0");
}

/** Every record carries its format, so that a later program can tell how to read it. */
export function formatRecord(record: object): string {
  return JSON.stringify({ format, ...record });
}

/** The rows of an event that has its place: its own, and one for each of its large texts, which stand there as they are. */
export function eventRows(sessionId: string, event: SessionEvent): Map<string, string> {
  const seq = event.seq as number;
  const whole = formatRecord({ event });
  if (hasAtMost(largeBytes, whole)) return new Map([[eventKey(sessionId, seq), whole]]);
  const { value, large, texts } = takeOut(event);
  const rows = new Map([
    [eventKey(sessionId, seq), formatRecord({ event: value, ...(large.length > 0 && { large }) })],
  ]);
  for (const [n, text] of texts.entries()) rows.set(largeKey(sessionId, seq, n), text);
  return rows;
}

/**
 * The text of a summary stands apart, since a control is written anew with every commit. What tells of it changes with
 * it: another text makes another version.
 */
export function formatControl(control: Control): string {
  const { summary } = control;
  if (summary?.text === undefined) return formatRecord(control);
  return formatRecord({ ...control, summary: { upTo: summary.upTo, sha256: sha256(summary.text) } });
}

/**
 * With the text of its summary, if what stands under `summaryKey` is given.
 * @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER`
 */
export function parseControl(
  sessionId: string,
  text: string | undefined,
  apart?: { readonly summary: string | undefined },
): Control {
  const what = `the control record of session ${sessionId}`;
  const { format: from, ...stored } = parseRecord(text, what, sessionId);
  const record = upgradeControl(stored, from);
  const wrong = controlShape(record);
  if (wrong !== undefined) throw corrupt(`${what} is not one (${wrong})`, sessionId);
  const control = record as JsonObject & Control & { readonly summary?: { readonly sha256?: string } };
  if (control.summary?.sha256 === undefined) return control;
  const { upTo } = control.summary;
  if (!apart) return { ...control, summary: { upTo } };
  const { summary } = apart;
  if (summary !== undefined && sha256(summary) === control.summary.sha256) {
    return { ...control, summary: { upTo, text: summary } };
  }
  throw corrupt(`the summary of session ${sessionId} is missing, or is another one`, sessionId);
}

/**
 * The event comes back frozen, and whole but for the texts in `large`, which have keys of their own.
 * @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER`
 */
export function parseEvent(
  sessionId: string,
  seq: number,
  text: string | undefined,
): { readonly event: SessionEvent; readonly large: readonly LargeValue[] } {
  const what = `event ${seq} of session ${sessionId}`;
  if (text === undefined) throw corrupt(`${what} is missing or cannot be read`, sessionId);
  const record = parseRecord(text, what, sessionId);
  const wrong = eventRecordShape(record);
  if (wrong !== undefined) throw corrupt(`${what} is not an event (${wrong})`, sessionId);
  const { event, large = [] } = record as unknown as { event: SessionEvent; large?: LargeValue[] };
  if (event.seq === seq) return { event: deepFreeze(event), large };
  throw corrupt(`${what} is another one`, sessionId);
}

/** @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export function parseRecord(
  text: string | undefined,
  what: string,
  sessionId?: string,
): JsonObject & { readonly format: number } {
  if (text === undefined) throw corrupt(`${what} cannot be read`, sessionId);
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (cause) {
    throw corrupt(`${what} is not JSON`, sessionId, cause);
  }
  if (!isRecord(record)) throw corrupt(`${what} is not a record`, sessionId);
  if (record.format > format) {
    throw new ThreadkeeperError(
      "STORE_FORMAT_NEWER",
      `${what} was written by a newer program (format ${record.format}, this one reads ${format}); update this one`,
      { fields: { sessionId, format: record.format } },
    );
  }
  return record;
}

/** How many places a session is kept to lie in. */
export const maxPlaces = 8;
export const placesShape = atMost(maxPlaces, list(atMost(200, name)));

const author = object({ id: name, name: text });
const context = list(object({ id: name, author, text }));
const parts = list(object({ type: name }));
const content: Shape = (value) => (typeof value === "string" ? undefined : parts(value));

export const messageShape = object({ role: oneOf("system", "user", "assistant", "tool"), content });

/** What both a stored and a new event must be. */
export const eventShape = object({
  id: name,
  at: name,
  turn: name,
  author: optional(author),
  context: optional(context),
  erased: optional(oneOf(true)),
  message: messageShape,
});

const step: Shape = (value) => (typeof value === "string" ? undefined : count(value));
const eventRecordShape = object({
  event: eventShape,
  large: optional(list(object({ path: list(step), bytes: count }))),
});

const input = { id: name, content, author: optional(author), context: optional(context) };

/** What a new input must be. */
export const inputShape = object({ ...input, places: optional(placesShape) });

const controlShape = object({
  revision: name,
  saves: count,
  count,
  state: object({}),
  handled: object({ recent: list(name), mark: optional(name) }),
  waiting: list(object({ ...input, at: name })),
  run: optional(
    object({
      id: name,
      turn: name,
      owner: name,
      inputs: list(object({ id: name, author: optional(author) })),
      ended: optional(object({})),
    }),
  ),
  summary: optional(object({ upTo: count, text: optional(text), sha256: optional(name) })),
  places: optional(list(name)),
  active: optional(object({ hour: count, users: list(name) })),
});

function isRecord(value: unknown): value is JsonObject & { readonly format: number } {
  return recordShape(value) === undefined;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

export function corrupt(why: string, sessionId: string | undefined, cause?: unknown): ThreadkeeperError {
  return new ThreadkeeperError("STORE_CORRUPT", `${why}; nothing was changed`, { fields: { sessionId }, cause });
}
