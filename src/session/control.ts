import { type Handled, nothingHandled, wasHandled, withHandled } from "./handled.ts";
import type { JsonObject } from "./plain-json.ts";
import type { Summary } from "./session.ts";
import type { CoveredInput, Input, TurnEnd } from "./session-manager.ts";
import { maxPlaces } from "./session-record.ts";
import { withProperties } from "./with-properties.ts";

/** An input in the queue, with the moment when it was taken (ISO 8601). */
export type WaitingInput = Input & { readonly at: string };

/** Who works on a session. */
export interface StoredRun {
  readonly id: string;
  readonly turn: string;
  /** The process, see `Owners`. */
  readonly owner: string;
  readonly inputs: readonly CoveredInput[];
  /** The turn is complete in the store; what may be missing is only that it was shown. */
  readonly ended?: TurnEnd;
}

/**
 * The one record of a session that changes, and by whose change everything else does. All functions here are pure:
 * they give the record that should replace it.
 */
export interface Control {
  /** Random, new at creation and reset: what was read of another revision is worth nothing. */
  readonly revision: string;
  /** How often events or state changed in this revision. */
  readonly saves: number;
  /** How many events there are. */
  readonly count: number;
  readonly state: JsonObject;
  readonly handled: Handled;
  readonly waiting: readonly WaitingInput[];
  readonly run?: StoredRun;
  readonly summary?: Summary;
  /** What the session lies in, see `session-index.ts`. */
  readonly places?: readonly string[];
  /** The hour since the epoch for which the index is up to date, and the people who are in it for that hour (newest 16). */
  readonly active?: { readonly hour: number; readonly users: readonly string[] };
}

export function newControl(revision: string, state: JsonObject = {}, handled: Handled = nothingHandled): Control {
  return { revision, saves: 0, count: 0, state, handled, waiting: [] };
}

/** All is forgotten, but not where the session lies, nor what was handled. */
export function emptied({ handled, places, active }: Control, revision: string): Control {
  return {
    ...newControl(revision, {}, handled),
    ...(places && { places }),
    ...(active && { active: { ...active, users: [] } }),
  };
}

export function amended(control: Control, id: string, content: WaitingInput["content"]): Control {
  return { ...control, waiting: control.waiting.map((input) => (input.id === id ? { ...input, content } : input)) };
}

/** The first `count` events are left, and nobody runs. What was handled stays so, and what waits, waits on. */
export function rewound(control: Control, count: number, revision: string): Control {
  return { ...withoutRun(withSummaryWithin(control, count)), revision, count };
}

/** The first `count` events and the state, lying in `places`. What was handled there is answered there, and not here. */
export function forked(control: Control, count: number, revision: string, places: readonly string[]): Control {
  const { state, handled, summary } = withSummaryWithin(control, count);
  return {
    ...newControl(revision, state, handled),
    count,
    ...(summary && { summary }),
    ...(places.length > 0 && { places }),
  };
}

/**
 * The words with these ids wait no longer. A summary that covers the first event that they are taken out of goes whole:
 * what it tells of the others can be told from them again, and until then a turn is shown its newest events within the
 * usual bound, which costs no more than before the first summary.
 */
export function withoutWords(control: Control, ids: ReadonlySet<string>, firstSeq: number, revision: string): Control {
  const waiting = control.waiting
    .filter(({ id }) => !ids.has(id))
    .map(({ context, ...input }) => {
      const others = (context ?? []).filter(({ id }) => !ids.has(id));
      return { ...input, ...(others.length > 0 && { context: others }) };
    });
  return { ...withSummaryWithin(control, firstSeq), revision, waiting };
}

/** Without a summary of events that are not among the first `count`. */
function withSummaryWithin(control: Control, count: number): Control {
  const { summary, ...rest } = control;
  return summary && summary.upTo > count ? rest : control;
}

export function versionOf(control: Control): string {
  return `${control.revision}.${control.saves}`;
}

/** Whether a version is one of the revision at which the session is now. */
export function isRevisionOf(version: string, { revision }: Control): boolean {
  return version.slice(0, version.lastIndexOf(".")) === revision;
}

/** Whose what waits is while nobody runs. */
export const nobody = "-";

/** Whose `open` key the session stands under: `undefined` if there is nothing to do in it. */
export function openUnder({ run, waiting }: Control): string | undefined {
  return run?.owner ?? (waiting.length > 0 ? nobody : undefined);
}

export function isKnown({ handled, waiting, run }: Control, inputId: string): boolean {
  const accepted = [...waiting, ...(run?.inputs ?? [])];
  return wasHandled(handled, inputId) || accepted.some((input) => input.id === inputId);
}

export function withWaiting(control: Control, { places = [], ...input }: WaitingInput): Control {
  return {
    ...withPlaces(control, places),
    waiting: [...control.waiting, input],
    handled: withHandled(control.handled, input.id),
  };
}

/** Those that were named last, where a session has moved about more than is kept. */
function withPlaces(control: Control, places: readonly string[]): Control {
  const older = (control.places ?? []).filter((place) => !places.includes(place));
  const all = [...older, ...new Set(places)].slice(-maxPlaces);
  return all.length > 0 ? { ...control, places: all } : control;
}

/**
 * A run. One that is there already belonged to somebody who is gone: it goes on as it is, with its own turn and inputs,
 * so that what was shown of it is found again and its answer goes where it went; what came since waits for the next.
 * Else it is a run of all that waits, whose words become the next events.
 */
export function withRun(
  control: Control,
  names: { readonly id: string; readonly turn: string; readonly owner: string },
): Control & { readonly run: StoredRun } {
  const { run: gone, waiting } = control;
  const { id, turn, owner } = names;
  if (gone) return { ...control, run: { ...gone, id, owner } };
  const run: StoredRun = { id, turn, owner, inputs: waiting.map(covered) };
  return { ...withSaved(control, waiting.length), waiting: [], run };
}

export function withoutRun({ run: _run, ...control }: Control): Control {
  return control;
}

export function withSaved(control: Control, events: number, state = control.state): Control {
  return withProperties(control, { saves: control.saves + 1, count: control.count + events, state });
}

export function withEnded(control: Control, ended: TurnEnd): Control {
  return control.run ? { ...control, run: { ...control.run, ended } } : control;
}

function covered({ id, author, replyTo }: Input): CoveredInput {
  return { id, ...(author && { author }), ...(replyTo !== undefined && { replyTo }) };
}
