import { ThreadkeeperError } from "../errors.ts";
import type { WaitingInput } from "./control.ts";
import { plainJson } from "./plain-json.ts";
import type { Session } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Input } from "./session-manager.ts";
import { eventShape, inputShape } from "./session-record.ts";
import type { Shape } from "./shape.ts";

/** In bytes as stored. What waits is written anew with every input that comes, so that none of them may be large. */
const maxInputBytes = 1_000_000;

/** A copy of `input` as it waits. @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkInput(input: Input): WaitingInput {
  const plain = plainJson(input, "input");
  checkShape(inputShape, plain, "input");
  const bytes = Buffer.byteLength(JSON.stringify(plain));
  if (bytes > maxInputBytes) {
    const [bound, size] = [maxInputBytes, bytes].map((each) => each.toLocaleString("en-US"));
    throw invalid(`an input is at most ${bound} bytes as JSON, this one is ${size}`, "input");
  }
  return { ...plain, at: new Date().toISOString() };
}

/** Copies of the events that were not saved yet. @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkNewEvents({ events }: Session): SessionEvent[] {
  const ids = new Set(events.filter((event) => event.seq !== undefined).map((event) => event.id));
  return events
    .filter((event) => event.seq === undefined)
    .map((event) => {
      const path = `event ${event.id}`;
      const plain = plainJson(event, path);
      checkShape(eventShape, plain, path);
      if (ids.has(plain.id)) throw invalid(`${path} is in the session already`, `${path}.id`);
      ids.add(plain.id);
      return plain;
    });
}

function checkShape(shape: Shape, value: unknown, where: string): void {
  const wrong = shape(value);
  if (wrong === undefined) return;
  const path = `${where}${wrong}`;
  throw invalid(`${path} is missing, or not what it must be`, path);
}

function invalid(why: string, path: string): ThreadkeeperError {
  return new ThreadkeeperError("INPUT_INVALID", why, { fields: { path } });
}
