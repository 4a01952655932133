import { ThreadkeeperError } from "../errors.ts";
import type { WaitingInput } from "./control.ts";
import { plainJson } from "./plain-json.ts";
import type { Session, Summary } from "./session.ts";
import type { SessionEvent } from "./session-event.ts";
import type { Input } from "./session-manager.ts";
import { eventShape, inputShape, placesShape } from "./session-record.ts";
import type { Shape } from "./shape.ts";
import { startsTurn } from "./turn-start.ts";

/** In bytes as stored. What waits is written anew with every input that comes, so that none of them may be large. */
const maxInputBytes = 1_000_000;

/** It is written anew with every commit of its session. */
const maxSummaryBytes = 16_384;

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

/**
 * A copy of `summary` as it may follow what `session` is summarised by.
 * @throws ThreadkeeperError `INPUT_INVALID`
 */
export function checkSummary({ events, summary: before }: Session, { upTo, text }: Summary): Summary {
  const place = events.findIndex(({ seq }) => seq === upTo);
  const first = events[place];
  if (first?.seq === undefined || !startsTurn(first, events[place - 1])) {
    throw invalid("a summary ends where a turn of the session's loaded events begins", "summary.upTo");
  }
  if (upTo < (before?.upTo ?? 0)) throw invalid("a summary covers no less than the one before it", "summary.upTo");
  if (text === undefined) return { upTo };
  if (typeof text === "string" && Buffer.byteLength(text) <= maxSummaryBytes) return { upTo, text };
  const bound = maxSummaryBytes.toLocaleString("en-US");
  throw invalid(`a summary is a text of at most ${bound} bytes`, "summary.text");
}

/** Those that were saved already, and copies of the others. @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkNewEvents({ events }: Session): { known: SessionEvent[]; added: SessionEvent[] } {
  const known: SessionEvent[] = [];
  const added: SessionEvent[] = [];
  const ids = new Set<string>();
  for (const event of events) {
    if (event.seq !== undefined) {
      known.push(event);
      continue;
    }
    const path = `event ${event.id}`;
    const plain = plainJson(event, path);
    checkShape(eventShape, plain, path);
    if (ids.has(plain.id)) throw repeated(plain.id);
    ids.add(plain.id);
    added.push(plain);
  }
  const again = ids.size > 0 ? known.find(({ id }) => ids.has(id)) : undefined;
  if (again) throw repeated(again.id);
  return { known, added };
}

function repeated(id: string): ThreadkeeperError {
  return invalid(`event ${id} is in the session already`, `event ${id}.id`);
}

/** @throws ThreadkeeperError `INPUT_INVALID`, `NOT_PLAIN_JSON` */
export function checkPlaces(places: readonly string[]): readonly string[] {
  const plain = plainJson(places, "places");
  checkShape(placesShape, plain, "places");
  return plain;
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
