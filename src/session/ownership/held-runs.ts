import { ThreadkeeperError } from "../../errors.ts";

interface Held {
  readonly sessionId: string;
  readonly controller: AbortController;
  /** Whether the store has it as this process's. */
  isStored: boolean;
}

/**
 * The runs that this process was given and has not given back. Any other run under its name has nobody, whatever went
 * wrong.
 */
export class HeldRuns {
  readonly #runs = new Map<string, Held>();

  /** Names a run before it is stored, so that one which then could not be given out counts as abandoned. */
  begin(runId: string, sessionId: string): AbortSignal {
    const controller = new AbortController();
    this.#runs.set(runId, { sessionId, controller, isStored: false });
    return controller.signal;
  }

  /** The store has it. It can have no other one for that session. */
  stored(runId: string): void {
    const mine = this.#runs.get(runId);
    if (!mine) return;
    for (const [id, { sessionId }] of this.allStored()) {
      if (sessionId === mine.sessionId) this.lose(id, "another run has its place");
    }
    mine.isStored = true;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Where there is one, on its way perhaps. */
  sessions(): ReadonlySet<string> {
    return new Set(Array.from(this.#runs.values(), ({ sessionId }) => sessionId));
  }

  letGo(runId: string): void {
    this.#runs.delete(runId);
  }

  /** As of this moment. */
  allStored(): [runId: string, held: { readonly sessionId: string }][] {
    return [...this.#runs].filter(([, { isStored }]) => isStored);
  }

  /** Aborts a run, if it is still held. */
  lose(runId: string, why: string): void {
    const held = this.#runs.get(runId);
    this.#runs.delete(runId);
    const fields = { sessionId: held?.sessionId };
    held?.controller.abort(new ThreadkeeperError("RUN_LOST", `run ${runId} is no longer ours: ${why}`, { fields }));
  }

  loseAll(why: string): void {
    for (const runId of [...this.#runs.keys()]) this.lose(runId, why);
  }
}
