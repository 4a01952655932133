import type { ModelMessage } from "ai";
import { type Control, newControl } from "./control.ts";
import { nothingHandled, withHandled } from "./handled.ts";
import type { JsonObject } from "./plain-json.ts";
import { randomId } from "./random-id.ts";
import type { SessionEvent } from "./session-event.ts";
import { corrupt, eventShape, messageShape } from "./session-record.ts";
import { list, object, oneOf, optional, type Shape } from "./shape.ts";

interface NaiveSession {
  readonly sessionId?: string;
  readonly events: readonly (SessionEvent | ModelMessage)[];
  readonly state?: JsonObject;
}

/** One of our envelopes, or a message of the AI SDK as it is. */
const isEnvelope = (entry: object): entry is SessionEvent => "message" in entry;
const entryShape: Shape = (value) => {
  const isObject = typeof value === "object" && value !== null;
  return isObject && isEnvelope(value) ? eventShape(value) : messageShape(value);
};

/**
 * The session that a bot with a plain Keyv kept under the bare session id: `{ sessionId, events, state }`, rewritten
 * whole with every turn.
 * @throws ThreadkeeperError `STORE_CORRUPT` if it is anything else
 */
export function parseNaive(
  sessionId: string,
  text: string | undefined,
): { readonly control: Control; readonly naive: { readonly events: readonly SessionEvent[] } } {
  const what = `what stands under the key ${sessionId}, where a plain Keyv keeps a session,`;
  const shape = object({
    sessionId: optional(oneOf(sessionId)),
    events: list(entryShape),
    state: optional(object({})),
  });
  const value = parse(text);
  const wrong = shape(value);
  if (wrong !== undefined) throw corrupt(`${what} is not one (${wrong || "not an object"})`, sessionId);
  const { events: entries, state = {} } = value as NaiveSession;
  const events = envelopes(entries);
  const ids = events.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw corrupt(`${what} has an event twice`, sessionId);
  const said = events.filter(({ message }) => message.role === "user");
  const handled = said.reduce((known, { id }) => withHandled(known, id), nothingHandled);
  return { control: { ...newControl(randomId(), state, handled), count: events.length }, naive: { events } };
}

/** A message that comes without an envelope gets one; of those, a turn begins with the first of the user's words. */
function envelopes(entries: readonly (SessionEvent | ModelMessage)[]): SessionEvent[] {
  const at = new Date().toISOString();
  let turn = randomId();
  let isAsking = false;
  return entries.map((entry, seq) => {
    if (isEnvelope(entry)) return { ...entry, seq };
    const asks = entry.role === "user";
    if (asks && !isAsking) turn = randomId();
    isAsking = asks;
    return { id: randomId(), seq, at, turn, message: entry };
  });
}

/** `undefined` if it is not JSON. Some write the text themselves, and Keyv then keeps a text. */
function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
