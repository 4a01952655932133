import type { ThreadkeeperError } from "../errors.ts";
import type { Run } from "../session/session-manager.ts";
import type { AgentResult } from "./agent-event.ts";

/** What a call comes to; `undefined`: nobody here answers its input (it is known already, or another process does). */
export type Outcome = { readonly result: AgentResult } | { readonly error: ThreadkeeperError } | undefined;

/**
 * What a call that waits is told: to drive this run itself; what came of its input; or to look into the store `again`,
 * under this new entry, since nobody here will bring it a word any more.
 */
export type Word = { readonly run: Run } | { readonly outcome: Outcome } | { readonly again: Call };

/** A call on its way. It enters before it goes to the store, so that no run can finish without seeing it. */
export interface Call {
  readonly sessionId: string;
  readonly inputId: string | undefined;
  /** Resolves once. */
  readonly word: Promise<Word>;
  /** The word, once it is known. */
  readonly told: Word | undefined;
  /** Only the first word counts. */
  tell(word: Word): void;
}

interface Place {
  /** Runs that are driven in this process: one, or two while news of the first one's end is on its way. */
  readonly driven: Set<Run>;
  /** Calls that are at the store and may come back with a run. */
  readonly arriving: Set<Call>;
  /** Calls that have not been told anything, in the order in which they entered. */
  readonly untold: Set<Call>;
}

/**
 * Who in this process waits for whose turn. The queue itself is in the store; this only brings runs and results to
 * the calls that wait for them. Everything here is synchronous, and no clock is needed.
 */
export class WaitingCalls {
  readonly #places = new Map<string, Place>();

  enter(sessionId: string, inputId: string | undefined): Call {
    const place = this.#place(sessionId);
    let told: Word | undefined;
    let resolve: (word: Word) => void = () => {};
    const word = new Promise<Word>((settle) => {
      resolve = settle;
    });
    const call: Call = {
      sessionId,
      inputId,
      word,
      get told() {
        return told;
      },
      tell: (first) => {
        place.untold.delete(call);
        told ??= first;
        resolve(first);
      },
    };
    place.arriving.add(call);
    place.untold.add(call);
    return call;
  }

  /** The store gave this call a run. */
  drives(call: Call, run: Run): void {
    this.#place(call.sessionId).driven.add(run);
    this.leave(call);
  }

  /** The store said that somebody runs: from here on the call only waits, until it leaves or is told. */
  waits(call: Call): void {
    this.#place(call.sessionId).arriving.delete(call);
    this.#tidy(call.sessionId);
  }

  /** Whether a turn of this process will answer the call's input, or another call is on its way with it. */
  isAnsweredHere(call: Call): boolean {
    const { driven, untold } = this.#place(call.sessionId);
    return (
      call.told !== undefined ||
      Array.from(driven).some(({ inputs }) => inputs.some(({ id }) => id === call.inputId)) ||
      Array.from(untold).some((other) => other !== call && other.inputId === call.inputId)
    );
  }

  /** Whether word may still come to the call: another one drives a run, or may come back with one. */
  hasOthers(call: Call): boolean {
    const { driven, arriving } = this.#place(call.sessionId);
    return call.told !== undefined || driven.size > 0 || Array.from(arriving).some((other) => other !== call);
  }

  /** The call goes away. What it was told before stands. */
  leave(call: Call): void {
    const place = this.#place(call.sessionId);
    place.arriving.delete(call);
    place.untold.delete(call);
    this.#tidy(call.sessionId);
  }

  /** A run's turn is over: the calls that it covered learn what came of it. */
  settle(run: Run, outcome: Outcome): void {
    for (const call of this.#coveredBy(run)) call.tell({ outcome });
  }

  /** A run is finished. The next one goes to the first call that waits for it; if there is none, it is returned. */
  handOver(finished: Run, next: Run | undefined): Run | undefined {
    const { sessionId } = finished.session;
    const { driven } = this.#place(sessionId);
    driven.delete(finished);
    if (next) driven.add(next);
    const heir = next && this.#coveredBy(next)[0];
    if (next && heir) heir.tell({ run: next });
    this.#tidy(sessionId);
    return heir ? undefined : next;
  }

  #coveredBy(run: Run): Call[] {
    const ids = new Set(run.inputs.map(({ id }) => id));
    return Array.from(this.#place(run.session.sessionId).untold).filter(
      ({ inputId }) => inputId !== undefined && ids.has(inputId),
    );
  }

  #place(sessionId: string): Place {
    const place = this.#places.get(sessionId) ?? { driven: new Set(), arriving: new Set(), untold: new Set() };
    this.#places.set(sessionId, place);
    return place;
  }

  /**
   * Where nobody drives and nobody may come back with a run, no word would come: the first of those that wait looks
   * into the store again. The run may belong to another process, or be gone, or the store failed when it was given back.
   */
  #tidy(sessionId: string): void {
    const { driven, arriving, untold } = this.#place(sessionId);
    if (driven.size > 0 || arriving.size > 0) return;
    const [first] = untold;
    if (first) first.tell({ again: this.enter(sessionId, first.inputId) });
    else this.#places.delete(sessionId);
  }
}
