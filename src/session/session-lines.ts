import { ThreadkeeperError, toThreadkeeperError } from "../errors.ts";
import type { JsonObject } from "./plain-json.ts";
import { checkSessionId } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import { checkEvent, controlFrom, type WholeSession } from "./whole-session.ts";

/**
 * A session as lines of JSON: one for itself, which tells how many follow, and one for each event.
 *
 *     {"session":"…","events":2,"record":{…}}
 *     {"event":{…}}
 *     {"event":{…}}
 */
export function* formatLines({ sessionId, record, events }: WholeSession): Generator<string> {
  yield `${JSON.stringify({ session: sessionId, events: events.length, record })}\n`;
  for (const event of events) yield `${JSON.stringify({ event })}\n`;
}

/**
 * The sessions in such lines, one after another, each complete and right in itself.
 * @throws ThreadkeeperError `INPUT_INVALID` that names the line
 */
export async function* parseLines(lines: AsyncIterable<string>): AsyncGenerator<WholeSession> {
  let number = 0;
  let open: { readonly head: Head; readonly line: number; readonly events: SessionEvent[] } | undefined;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const value = parse(line, number);
    if (open) open.events.push(eventOf(value, open.head.session, open.events.length, number));
    else open = { head: headOf(value, number), line: number, events: [] };
    if (open.events.length < open.head.events) continue;
    yield { sessionId: open.head.session, record: open.head.record, events: open.events };
    open = undefined;
  }
  if (open) throw wrong(number, `session ${open.head.session}, which begins in line ${open.line}, is not complete`);
}

interface Head {
  readonly session: string;
  readonly events: number;
  readonly record: JsonObject;
}

function headOf(value: JsonObject, line: number): Head {
  const { session, events, record } = value;
  if (typeof session !== "string") throw wrong(line, "no session begins there");
  if (!Number.isSafeInteger(events) || (events as number) < 0)
    throw wrong(line, "it does not tell how many events follow");
  if (typeof record !== "object" || record === null) throw wrong(line, "it has no record of the session");
  const head = { session, events: events as number, record: record as JsonObject };
  placed(line, () => controlFrom(checkSessionId(session), head.record, head.events));
  return head;
}

function eventOf(value: JsonObject, sessionId: string, seq: number, line: number): SessionEvent {
  if (value["event"] === undefined) throw wrong(line, `it is not an event, and session ${sessionId} has no end yet`);
  return placed(line, () => checkEvent(sessionId, seq, value["event"]));
}

function placed<T>(line: number, job: () => T): T {
  try {
    return job();
  } catch (error) {
    throw wrong(line, toThreadkeeperError(error).message);
  }
}

function parse(line: string, number: number): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong(number, "it is not JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw wrong(number, "it is not an object");
}

function wrong(line: number, why: string): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", `line ${line}: ${why}`, { fields: { line } });
}
