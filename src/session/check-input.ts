import { ThreadkeeperError } from "../errors.ts";
import type { WaitingInput } from "./control.ts";
import { plainJson } from "./plain-json.ts";
import type { Session } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Input } from "./session-manager.ts";
import { isEvent, isInput } from "./session-record.ts";

/** A copy of `input` as it waits. @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkInput(input: Input): WaitingInput {
  const plain = plainJson(input, "input");
  if (!isInput(plain)) throw invalid("an input has an id, and a content that is a text or a list of parts");
  return { ...plain, at: new Date().toISOString() };
}

/** Copies of the events that were not saved yet. @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkNewEvents({ events }: Session): SessionEvent[] {
  const ids = new Set(events.filter((event) => event.seq !== undefined).map((event) => event.id));
  const added = events.filter((event) => event.seq === undefined).map((event) => plainJson(event, `event ${event.id}`));
  for (const event of added as unknown[]) {
    if (!isEvent(event)) throw invalid("an event has an id, a time, a turn and a message with a role");
    if (ids.has(event.id)) throw invalid(`there is an event ${event.id} in the session already`);
    ids.add(event.id);
  }
  return added;
}

function invalid(why: string): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", why);
}
