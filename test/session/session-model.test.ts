import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import { ownerKey } from "../../src/session/session-record.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { write } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

/** What a session should hold, as plain arrays. */
interface Model {
  events: string[];
  state: number;
  waiting: string[];
  known: Set<string>;
  run?: { turn: string; inputs: string[]; ended: boolean; abandoned: boolean } | undefined;
}

const sessionIds = ["s", "s:2"];
const command = fc.record({
  kind: fc.constantFrom(
    ...[
      "take",
      "take",
      "take",
      "take up",
      "save",
      "save",
      "end",
      "finish",
      "finish",
      "save outside",
      "interrupt",
      "reset",
      "delete",
      "crash",
      "restart",
    ],
  ),
  sessionId: fc.constantFrom(...sessionIds),
  n: fc.nat(30),
});

/** Runs commands against real sessions and the model side by side. */
class World {
  readonly #store: Store;
  readonly #models = new Map<string, Model>();
  /** The run that this process has, whether it still stands or not. */
  readonly #runs = new Map<string, { run: Run; session: Session }>();
  #sessions!: SessionManager;
  #owner = "";
  #made = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(): Promise<void> {
    this.#owner = `owner${this.#made++}-${Math.random().toString(36).slice(2)}`;
    // Nothing, a session or two, or all of it: what is remembered makes no difference.
    const cacheBytes = [0, 1_500, 64_000_000][this.#made % 3] as number;
    this.#sessions = await openSessions({ store: this.#store, ownerId: this.#owner, cacheBytes });
  }

  async do({ kind, sessionId, n }: { kind: string; sessionId: string; n: number }): Promise<void> {
    const model = this.#models.get(sessionId);
    const held = this.#runs.get(sessionId);
    switch (kind) {
      case "take":
        return this.#take(sessionId, `input-${n}`);
      case "take up":
        return model ? this.#take(sessionId) : undefined;
      case "save":
      case "end":
        return held && this.#save(sessionId, held, n, kind === "end");
      case "finish":
        return held && this.#finish(sessionId, held.run);
      case "save outside":
        return this.#saveOutside(sessionId, n);
      case "interrupt": {
        const freed = await this.#sessions.interrupt(sessionId);
        expect(freed.map(({ id }) => id)).toEqual(model?.run?.inputs ?? []);
        if (model) model.run = undefined;
        return;
      }
      case "reset":
        expect(await this.#sessions.reset(sessionId)).toBe(model !== undefined);
        if (model) this.#models.set(sessionId, { ...newModel(), known: model.known });
        return;
      case "delete":
        expect(await this.#sessions.delete(sessionId)).toBe(model !== undefined);
        this.#models.delete(sessionId);
        return;
      default:
        return this.#leave(kind === "crash");
    }
  }

  async check(): Promise<void> {
    const unfinished: string[] = [];
    for (const sessionId of sessionIds) {
      const model = this.#models.get(sessionId);
      const session = await this.#sessions.get(sessionId);
      expect(session?.events.map(({ message }) => message.content)).toEqual(model?.events);
      expect(session?.events.map(({ seq }) => seq)).toEqual(model?.events.map((_, index) => index));
      expect(session?.state["n"] ?? 0).toBe(model?.state ?? 0);
      if (model?.run ? model.run.abandoned : model?.waiting.length) unfinished.push(sessionId);
    }
    expect((await this.#sessions.unfinished()).sort()).toEqual(unfinished);
  }

  async end(): Promise<void> {
    await this.#sessions.close();
  }

  async #take(sessionId: string, id?: string): Promise<void> {
    const model = this.#models.get(sessionId) ?? newModel();
    const taken = await this.#sessions.take(sessionId, id === undefined ? undefined : { id, content: id }, {
      create: true,
    });
    if (id !== undefined && model.known.has(id)) return expect(taken.outcome).toBe("known");
    this.#models.set(sessionId, model);
    if (id !== undefined) {
      model.known.add(id);
      model.waiting.push(id);
    }
    if (model.run && !model.run.abandoned) return expect(taken.outcome).toBe(id === undefined ? "idle" : "waiting");
    const next = this.#begin(model, taken.outcome === "run" ? taken.run : undefined);
    if (taken.outcome === "run") this.#runs.set(sessionId, { run: taken.run, session: taken.run.session });
    else expect({ outcome: taken.outcome, next }).toEqual({ outcome: "idle", next: undefined });
  }

  /** What was abandoned goes on as it is; else all that waits becomes a run. `real` must be that run. */
  #begin(model: Model, real: Run | undefined): Model["run"] {
    const left = model.run;
    if (left) {
      left.abandoned = false;
    } else if (model.waiting.length > 0) {
      model.run = { turn: real?.turn ?? "", inputs: model.waiting, ended: false, abandoned: false };
      model.events.push(...model.waiting);
      model.waiting = [];
    }
    expect(
      real && {
        turn: real.turn,
        inputs: real.inputs.map(({ id }) => id),
        resumed: real.resumed ?? false,
        ended: real.ended !== undefined,
      },
    ).toEqual(
      model.run && {
        turn: model.run.turn,
        inputs: model.run.inputs,
        resumed: left !== undefined,
        ended: model.run.ended,
      },
    );
    return model.run;
  }

  async #save(sessionId: string, held: { run: Run; session: Session }, n: number, ended: boolean): Promise<void> {
    const model = this.#models.get(sessionId);
    const event = this.#event(held.run.turn);
    const session = { ...held.session, events: [...held.session.events, event], state: { n } };
    const saving = this.#sessions.save(session, { run: held.run, ...(ended && { ended: {} }) });
    if (!this.#stands(sessionId, held.run)) return expect(saving).rejects.toMatchObject({ code: "RUN_LOST" });
    held.session = await saving;
    model?.events.push(event.message.content as string);
    if (model) model.state = n;
    if (model?.run && ended) model.run.ended = true;
  }

  async #finish(sessionId: string, run: Run): Promise<void> {
    const model = this.#models.get(sessionId);
    const stands = this.#stands(sessionId, run);
    const next = await this.#sessions.finish(run);
    this.#runs.delete(sessionId);
    if (next) this.#runs.set(sessionId, { run: next, session: next.session });
    if (!stands || !model) return expect(next).toBeUndefined();
    model.run = undefined;
    this.#begin(model, next);
  }

  async #saveOutside(sessionId: string, n: number): Promise<void> {
    const model = this.#models.get(sessionId);
    const session = (await this.#sessions.get(sessionId)) ?? {
      sessionId,
      events: [],
      state: {},
      version: "",
      earlier: 0,
    };
    const event = this.#event("outside");
    const saving = this.#sessions.save({ ...session, events: [...session.events, event], state: { n } });
    if (model?.run && !model.run.abandoned) return expect(saving).rejects.toMatchObject({ code: "SESSION_STALE" });
    await saving;
    const saved = model ?? newModel();
    this.#models.set(sessionId, saved);
    saved.events.push(event.message.content as string);
    saved.state = n;
  }

  /** Another process begins; this one says goodbye, or is found dead. */
  async #leave(crash: boolean): Promise<void> {
    const key = ownerKey(this.#owner);
    if (crash) await write(this.#store, { key, was: (await this.#store.get([key]))[0]?.version, remove: [key] });
    else await this.#sessions.close();
    this.#runs.clear();
    for (const { run } of this.#models.values()) if (run) run.abandoned = true;
    await this.start();
  }

  #stands(sessionId: string, run: Run): boolean {
    const current = this.#models.get(sessionId)?.run;
    return current !== undefined && !current.abandoned && current.turn === run.turn;
  }

  #event(turn: string): SessionEvent {
    const id = `said-${this.#made++}`;
    return { id, at: "now", turn, message: { role: "assistant", content: id } };
  }
}

function newModel(): Model {
  return { events: [], state: 0, waiting: [], known: new Set() };
}

describe.each(everyPlace)("Sessions in $kind", ({ kind, makePlace }) => {
  it("equal plain arrays, whatever happens to them in whatever order", async () => {
    const place = await makePlace();
    const store = await place.open();
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
          const world = new World(store);
          await world.start();
          const cleaner = await openSessions({ store });
          for (const sessionId of sessionIds) await cleaner.delete(sessionId);
          await cleaner.close();
          for (const each of commands) {
            await world.do(each);
            await world.check();
          }
          await world.end();
        }),
        { numRuns: kind === "memory" ? 150 : 15 },
      );
    } finally {
      await store.close();
      await place.remove();
    }
  }, 60_000);
});
