/**
 * How a session is laid out in the store. One small control record is its only commit point; each event has a
 * write-once key of its own, and those at or above the control's `count` don't exist.
 *
 *     control/<session>          what moves: count, state, what waits, who runs
 *     event/<session>/<seq>      one entry of the conversation
 *     open/<owner>/<session>     the session has a run of this owner, or inputs that wait ("-": no run)
 *     owner/<owner>              a process that is there
 *
 * The slash stands in no session id, so no prefix of one session matches another's keys.
 */
import { ThreadkeeperError } from "../errors.ts";
import type { Control } from "./control.ts";
import type { JsonObject } from "./plain-json.ts";
import type { SessionEvent } from "./session-event.ts";

const format = 1;

export const controlKey = (sessionId: string): string => `control/${sessionId}`;
export const eventPrefix = (sessionId: string): string => `event/${sessionId}/`;
export const eventKey = (sessionId: string, seq: number): string =>
  `${eventPrefix(sessionId)}${String(seq).padStart(10, "0")}`;
export const openPrefix = "open/";
export const openKey = (owner: string, sessionId: string): string => `${openPrefix}${owner}/${sessionId}`;
export function parseOpenKey(key: string): { owner: string; sessionId: string } {
  const [, owner = "", sessionId = ""] = key.split("/");
  return { owner, sessionId };
}
export const ownerKey = (owner: string): string => `owner/${owner}`;

/** Every record carries its format, so that a later program can tell how to read it. */
export function formatRecord(record: object): string {
  return JSON.stringify({ format, ...record });
}

export function formatEvent(event: SessionEvent): string {
  return formatRecord({ event });
}

/** @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export function parseControl(sessionId: string, text: string | undefined): Control {
  const record = parseRecord(text, `the control record of session ${sessionId}`, sessionId);
  const { format: _format, ...control } = record;
  if (isControl(control)) return control;
  throw corrupt(`the control record of session ${sessionId} is not one`, sessionId);
}

/** The event comes back frozen. @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export function parseEvent(sessionId: string, seq: number, text: string | undefined): SessionEvent {
  const what = `event ${seq} of session ${sessionId}`;
  if (text === undefined) throw corrupt(`${what} is missing or cannot be read`, sessionId);
  const { event } = parseRecord(text, what, sessionId);
  if (isEvent(event) && event.seq === seq) return deepFreeze(event);
  throw corrupt(`${what} is not an event`, sessionId);
}

/** @throws ThreadkeeperError `STORE_CORRUPT`, `STORE_FORMAT_NEWER` */
export function parseRecord(text: string | undefined, what: string, sessionId?: string): JsonObject {
  if (text === undefined) throw corrupt(`${what} cannot be read`, sessionId);
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (cause) {
    throw corrupt(`${what} is not JSON`, sessionId, cause);
  }
  if (!isObject(record) || !isCount(record["format"])) throw corrupt(`${what} is not a record`, sessionId);
  if (record["format"] > format) {
    throw new ThreadkeeperError(
      "STORE_FORMAT_NEWER",
      `${what} was written by a newer program (format ${record["format"]}, this one reads ${format}); update this one`,
      { fields: { sessionId, format: record["format"] } },
    );
  }
  return record;
}

/** What both a stored and a new event must have. */
export function isEvent(value: unknown): value is SessionEvent {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    isText(value["at"]) &&
    isText(value["turn"]) &&
    isObject(value["message"]) &&
    ["system", "user", "assistant", "tool"].includes(value["message"]["role"] as string)
  );
}

/** What both a waiting and a new input must have. */
export function isInput(value: unknown): value is { id: string; content: string | JsonObject[] } {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    (typeof value["content"] === "string" || (Array.isArray(value["content"]) && value["content"].every(isObject)))
  );
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

function isControl(value: JsonObject): value is JsonObject & Control {
  const { revision, saves, count, state, handled, waiting, run } = value;
  return (
    isText(revision) &&
    isCount(saves) &&
    isCount(count) &&
    isObject(state) &&
    isObject(handled) &&
    isList(handled["recent"], isText) &&
    (handled["mark"] === undefined || isText(handled["mark"])) &&
    isList(waiting, (input) => isInput(input) && isText((input as JsonObject)["at"])) &&
    (run === undefined || isRun(run))
  );
}

function isRun(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    isText(value["turn"]) &&
    isText(value["owner"]) &&
    isList(value["inputs"], (input) => isObject(input) && isText(input["id"])) &&
    (value["ended"] === undefined || value["ended"] === true)
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function corrupt(why: string, sessionId: string | undefined, cause?: unknown): ThreadkeeperError {
  return new ThreadkeeperError("STORE_CORRUPT", `${why}; nothing was changed`, { fields: { sessionId }, cause });
}
