import { sessionNotFound } from "../errors.ts";
import type { Logger } from "../log.ts";
import { checkInput } from "./check-input.ts";
import { type Control, isKnown, newControl, withoutRun, withRun, withWaiting } from "./control.ts";
import { inputEvents } from "./input-events.ts";
import type { Ownership } from "./ownership/ownership.ts";
import { randomId } from "./random-id.ts";
import type { Decision, Step } from "./session-changes.ts";
import type { Input, Run, Taken } from "./session-manager.ts";
import { sessionOf } from "./session-of.ts";
import type { SessionWindows } from "./session-window.ts";

export interface TakeParts {
  readonly windows: SessionWindows;
  readonly ownership: Ownership;
  readonly log: Logger;
  readonly maxWaiting: number;
}

interface Beginning {
  readonly sessionId: string;
  readonly maxBytes: number;
  readonly start: boolean;
}

/** What `SessionManager.take` comes to, once the run that it may give out has an id. @throws as that does */
export function takingOf(
  parts: TakeParts,
  input: Input | undefined,
  { create, ...beginning }: Beginning & { readonly create: boolean },
): (runId: string) => Decision<Taken> {
  const { ownership, log, maxWaiting } = parts;
  const { sessionId, start } = beginning;
  const arrived = input && checkInput(input);
  return (runId) => async (stored) => {
    if (!stored && !create) throw sessionNotFound(sessionId);
    const control = stored ?? newControl(randomId());
    if (arrived && isKnown(control, arrived.id)) return { result: { outcome: "known" } };
    const free = start && (!control.run || (await ownership.isAbandoned(control.run)));
    if (!free && !arrived) return { result: { outcome: "idle" } };
    // One that takes a run over is stored all the same: a full queue would else never move again.
    if (!free && control.waiting.length >= maxWaiting) return { result: { outcome: "full", limit: maxWaiting } };
    const next = arrived ? withWaiting(control, arrived) : control;
    if (!free) return { next, result: { outcome: "waiting" } };
    if (control.run) log.info({ sessionId, gone: control.run.owner }, "taking over what a process left");
    return begin(parts, control, next, { ...beginning, runId });
  };
}

/** What `SessionManager.finish` comes to. */
export function finishingOf(parts: TakeParts, run: Run, beginning: Beginning): (runId: string) => Decision<Taken> {
  return (runId) => async (control) => {
    if (control?.run?.id !== run.id || run.signal?.aborted) return { result: { outcome: "idle" } };
    const next = withoutRun(control);
    if (!beginning.start) return { next, result: { outcome: "idle" } };
    return begin(parts, control, next, { ...beginning, runId });
  };
}

/** Gives out the run that was abandoned in `next`, or one of all that waits; if that is nothing, `next` stays as it is. */
async function begin(
  { windows, ownership }: TakeParts,
  before: Control,
  next: Control,
  { sessionId, maxBytes, runId }: Beginning & { readonly runId: string },
): Promise<Step<Taken> | "moved"> {
  if (!next.run && next.waiting.length === 0) return { ...(before.run && { next }), result: { outcome: "idle" } };
  const loaded = await windows.load(sessionId, before, maxBytes);
  if (!loaded) return "moved";
  const owner = await ownership.sureOwner();
  const running = withRun(next, { id: runId, turn: randomId(), owner });
  const { id, turn, inputs, ended } = running.run;
  const events = next.run ? [] : inputEvents(next.waiting, turn, before.count, loaded);
  const run: Run = {
    id,
    turn,
    inputs,
    session: sessionOf(sessionId, running, [...loaded, ...events]),
    ...(next.run && { resumed: true }),
    ...(ended && { ended }),
  };
  return { next: running, events, result: { outcome: "run", run } };
}
