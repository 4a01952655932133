// One thing although long: one command after another, and all of them are held against the same plain arrays.
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import { ownerKey } from "../../src/session/session-record.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { CutStore } from "../support/cut-store.ts";
import { type PlainContext, type PlainInput, PlainSession } from "../support/plain-session.ts";
import { all } from "../support/session-room.ts";
import { contents, type StorePlace, write } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const sessionIds = ["f", "s", "s:2"];
const places = ["place-0", "place-1"];
const kinds: [kind: string, weight: number][] = [
  ["take", 6],
  ["take up", 1],
  ["save", 2],
  ["end", 2],
  ["finish", 4],
  ["save outside", 1],
  ["interrupt", 1],
  ["amend", 1],
  ["erase", 4],
  ["rewind", 2],
  ["fork", 2],
  ["summarise", 2],
  ["reset", 1],
  ["delete", 1],
  ["crash", 1],
  ["restart", 1],
];
const command = fc.record({
  kind: fc.constantFrom(...kinds.flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind))),
  sessionId: fc.constantFrom(...sessionIds, "s", "s", "s"),
  by: fc.nat(1),
  n: fc.nat(30),
});
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

interface Process {
  readonly owner: string;
  readonly store: CutStore;
  readonly sessions: SessionManager;
}

/** The run that a process has, whether it still stands or not. */
interface HeldRun {
  readonly run: Run;
  readonly by: number;
  session: Session;
}

/** Two processes on one store, and the plain sessions beside them. */
class World {
  readonly #place: StorePlace;
  readonly #models = new Map<string, PlainSession>();
  readonly #runs = new Map<string, HeldRun>();
  readonly #processes: Process[] = [];
  #made = 0;
  /** Every text that was ever said. */
  readonly #texts = new Set<string>();
  /** Those that something which makes forget has made sure of. */
  #forgotten: string[] = [];

  constructor(place: StorePlace) {
    this.#place = place;
  }

  async start(): Promise<void> {
    for (const by of [0, 1]) await this.#arrive(by);
  }

  async do({ kind, sessionId, n, by }: Command): Promise<void> {
    const { sessions } = this.#process(by);
    const model = this.#models.get(sessionId);
    const held = this.#runs.get(sessionId);
    switch (kind) {
      case "take":
        return this.#take(sessionId, by, this.#input(model, n), n % 3 === 0 ? [places[n % 2] as string] : []);
      case "take up":
        return model ? this.#take(sessionId, by) : undefined;
      case "save":
      case "end":
        return held && this.#save(sessionId, held, n, kind === "end");
      case "finish":
        return held && this.#finish(sessionId, held);
      case "save outside":
        return this.#saveOutside(sessionId, sessions, n);
      case "interrupt": {
        const freed = await sessions.interrupt(sessionId);
        expect(freed.map(({ id }) => id)).toEqual(model?.run?.inputs ?? []);
        if (model) model.run = undefined;
        return;
      }
      case "amend": {
        const id = model?.waiting[n % (model.waiting.length + 1)]?.id ?? "none";
        const text = this.#text();
        const waits = id !== "none";
        expect(await sessions.amend(sessionId, { id, content: text })).toBe(waits);
        if (model) model.waiting = model.waiting.map((input) => (input.id === id ? { ...input, text } : input));
        return this.#forget(waits);
      }
      case "erase": {
        const said = [...this.#models.values()].flatMap((each) => [...each.ids()]);
        const ids = [said[n % said.length] ?? "none", said[(7 * n) % said.length] ?? "none"].slice(n % 2);
        const changed = [...this.#models].filter(([, each]) => each.erase(ids)).map(([id]) => id);
        expect(await sessions.erase(ids)).toEqual(changed.sort());
        return this.#forget(changed.length > 0);
      }
      case "rewind": {
        const named = n % 2 === 0 ? undefined : model?.events[n % model.events.length]?.turn;
        const turn = named ?? model?.events.at(-1)?.turn;
        const inputs = turn === undefined ? undefined : model?.rewind(turn);
        expect(await sessions.rewind(sessionId, named)).toEqual(inputs && { turn, inputs });
        return this.#forget(inputs !== undefined);
      }
      case "fork":
        return this.#fork(sessionId, sessions, n);
      case "summarise": {
        const starts = model?.starts.filter((seq) => seq >= (model.summary?.upTo ?? 0)) ?? [];
        const session = await sessions.get(sessionId);
        if (!model || !session || starts.length === 0) return;
        model.summary = { upTo: starts[n % starts.length] as number, text: this.#text() };
        return expect(await sessions.summarise(session, model.summary)).toBe(true);
      }
      case "reset":
        expect(await sessions.reset(sessionId)).toBe(model !== undefined);
        if (model) this.#models.set(sessionId, model.reset());
        return this.#forget(model !== undefined);
      case "delete":
        expect(await sessions.delete(sessionId)).toBe(model !== undefined);
        return this.#forget(this.#models.delete(sessionId));
      default:
        return this.#leave(by, kind === "crash");
    }
  }

  /** What both processes see, and what is in the store: all that should be, and nothing else. */
  async check(): Promise<void> {
    const models = [...this.#models].sort(([a], [b]) => (a < b ? -1 : 1));
    const unfinished = models.filter(([, { run, waiting }]) => (run ? run.abandoned : waiting.length > 0));
    for (const { sessions } of this.#processes) {
      for (const sessionId of sessionIds) {
        const model = this.#models.get(sessionId);
        const session = await sessions.get(sessionId);
        expect(session?.events.map(({ message }) => message.content)).toEqual(model?.window.map(({ text }) => text));
        expect([session?.state["n"] ?? 0, session?.summary]).toEqual([model?.state ?? 0, model?.summary]);
        if (!model) continue;
        expect((await all(sessions.history(sessionId))).map(plain)).toEqual(
          model.events.map((event, seq) => ({ seq, ...event })),
        );
      }
      expect((await sessions.unfinished()).sort()).toEqual(unfinished.map(([sessionId]) => sessionId));
      expect((await sessions.list()).map(({ sessionId }) => sessionId)).toEqual(models.map(([sessionId]) => sessionId));
      for (const place of places) {
        const lying = models.filter(([, model]) => model.places.includes(place)).map(([sessionId]) => sessionId);
        expect((await sessions.list({ place })).map(({ sessionId }) => sessionId)).toEqual(lying);
      }
    }
    const stored = await contents(this.#process(0).store);
    const keys = Object.keys(stored).filter((key) => !/^(owner|alive)\//.test(key));
    expect(keys).toEqual(models.flatMap(([sessionId, model]) => model.keys(sessionId)).sort());
    const values = JSON.stringify(stored);
    for (const text of this.#dead()) expect(values).not.toContain(text);
  }

  /** Says goodbye. What was forgotten is not in these files' bytes either. */
  async end(files: readonly string[]): Promise<void> {
    for (const { sessions, store } of this.#processes) {
      await sessions.close();
      await store.close();
    }
    const dead = new Set(this.#dead());
    for (const file of files) {
      const bytes = await readFile(file).catch(() => Buffer.alloc(0));
      for (const text of this.#forgotten) if (dead.has(text)) expect(bytes.includes(text)).toBe(false);
    }
  }

  async #take(sessionId: string, by: number, input?: PlainInput, lying: readonly string[] = []): Promise<void> {
    const { sessions, owner } = this.#process(by);
    const model = this.#models.get(sessionId) ?? new PlainSession();
    const taken = await sessions.take(
      sessionId,
      input && { ...inputOf(input), ...(lying.length > 0 && { places: lying }) },
      { create: true },
    );
    if (input && model.known.has(input.id)) return expect(taken.outcome).toBe("known");
    this.#models.set(sessionId, model);
    if (input) model.arrive(input, lying);
    if (model.run && !model.run.abandoned) {
      model.hear();
      return expect(taken.outcome).toBe(input ? "waiting" : "idle");
    }
    this.#begin(model, owner, taken.outcome === "run" ? taken.run : undefined);
    if (taken.outcome === "run") this.#runs.set(sessionId, { run: taken.run, session: taken.run.session, by });
    else expect([taken.outcome, model.run]).toEqual(["idle", undefined]);
  }

  /** What was abandoned goes on as it is; else all that waits becomes a run. `real` must be that run. */
  #begin(model: PlainSession, owner: string, real: Run | undefined): void {
    const left = model.run;
    if (left) {
      model.run = { ...left, owner, abandoned: false };
      model.hear();
    } else if (model.waiting.length > 0) model.begin(real?.turn ?? "", owner);
    const { turn, inputs, ended } = model.run ?? {};
    expect(
      real && {
        turn: real.turn,
        inputs: real.inputs.map(({ id }) => id),
        resumed: real.resumed ?? false,
        ended: real.ended !== undefined,
        texts: real.session.events.map(({ message }) => message.content),
      },
    ).toEqual(
      model.run && { turn, inputs, resumed: left !== undefined, ended, texts: model.window.map(({ text }) => text) },
    );
  }

  async #save(sessionId: string, held: HeldRun, n: number, ended: boolean): Promise<void> {
    const { sessions } = this.#process(held.by);
    const model = this.#models.get(sessionId);
    const event = this.#event(held.run.turn, 0);
    const session = { ...held.session, events: [...held.session.events, event], state: { n } };
    const saving = sessions.save(session, { run: held.run, ...(ended && { ended: {} }) });
    if (!this.#stands(sessionId, held.run) || !model?.run) {
      return expect(saving).rejects.toMatchObject({ code: "RUN_LOST" });
    }
    held.session = await saving;
    model.add(withoutSeq(plain(event)));
    model.state = n;
    if (ended) model.run.ended = true;
  }

  async #finish(sessionId: string, { run, by }: HeldRun): Promise<void> {
    const { sessions, owner } = this.#process(by);
    const model = this.#models.get(sessionId);
    const stands = this.#stands(sessionId, run);
    const next = await sessions.finish(run);
    this.#runs.delete(sessionId);
    if (next) this.#runs.set(sessionId, { run: next, session: next.session, by });
    if (!stands || !model) return expect(next).toBeUndefined();
    model.run = undefined;
    this.#begin(model, owner, next);
  }

  async #saveOutside(sessionId: string, sessions: SessionManager, n: number): Promise<void> {
    const model = this.#models.get(sessionId);
    const fresh = { sessionId, events: [], state: {}, version: "", earlier: 0 };
    const session = (await sessions.get(sessionId)) ?? fresh;
    const event = this.#event("outside", n);
    const saving = sessions.save({ ...session, events: [...session.events, event], state: { n } });
    if (model?.run && !model.run.abandoned) return expect(saving).rejects.toMatchObject({ code: "SESSION_STALE" });
    await saving;
    const saved = model ?? new PlainSession();
    this.#models.set(sessionId, saved);
    saved.add(withoutSeq(plain(event)));
    saved.state = n;
  }

  async #fork(sessionId: string, sessions: SessionManager, n: number): Promise<void> {
    const model = this.#models.get(sessionId);
    const to = sessionIds[(sessionIds.indexOf(sessionId) + 1) % sessionIds.length] as string;
    const turn = n % 2 === 0 ? undefined : (model?.events[n % model.events.length]?.turn ?? "none");
    const lying = n % 3 === 0 ? undefined : [places[n % 2] as string];
    const forking = sessions.fork(sessionId, { sessionId: to, ...(turn && { turn }), ...(lying && { places: lying }) });
    const copy = model?.fork(turn, lying);
    if (this.#models.has(to)) return expect(forking).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    if (!copy) return expect(forking).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await forking).events.map(({ id }) => id)).toEqual(copy.window.map(({ id }) => id));
    this.#models.set(to, copy);
  }

  /** Another process begins in the place of this one, which says goodbye, or is found dead. */
  async #leave(by: number, crash: boolean): Promise<void> {
    const { sessions, store, owner } = this.#process(by);
    const key = ownerKey(owner);
    if (crash) {
      store.isCut = true;
      const { store: other } = this.#process(1 - by);
      await write(other, { key, was: (await other.get([key]))[0]?.version, remove: [key] });
    } else await sessions.close();
    await store.close();
    for (const [sessionId, held] of this.#runs) if (held.by === by) this.#runs.delete(sessionId);
    for (const { run } of this.#models.values()) if (run?.owner === owner) run.abandoned = true;
    await this.#arrive(by);
  }

  async #arrive(by: number): Promise<void> {
    const owner = `owner${this.#made++}-${Math.random().toString(36).slice(2)}`;
    // Nothing, a session or two, or all of it: what is remembered makes no difference.
    const cacheBytes = [0, 1_500, 64_000_000][this.#made % 3] as number;
    const store = new CutStore(await this.#place.open());
    const sessions = await openSessions({ store, ownerId: owner, cacheBytes, takeOverMs: 600_000 });
    this.#processes[by] = { owner, store, sessions };
  }

  #process(by: number): Process {
    return this.#processes[by] as Process;
  }

  #stands(sessionId: string, run: Run): boolean {
    const current = this.#models.get(sessionId)?.run;
    return current !== undefined && !current.abandoned && current.turn === run.turn;
  }

  #text(): string {
    const text = `[words ${this.#made++}]`;
    this.#texts.add(text);
    return text;
  }

  /** Mostly a new one; now and then one that was said before, here or elsewhere. */
  #input(model: PlainSession | undefined, n: number): PlainInput {
    const where = n % 5 === 0 && model ? [model] : [...this.#models.values()];
    const old = where.flatMap((each) => [...each.ids()]);
    const id = (n % 5 < 2 && old[n % old.length]) || `input-${this.#made++}`;
    const near = (id: string, author: number): PlainContext => {
      const text = `[near ${id}]`;
      this.#texts.add(text);
      return { id, author: `user-${author}`, text };
    };
    const earlier = [...(model?.ids() ?? [])].at(-1);
    const context = [
      ...(n % 3 === 1 ? [near(`context-${n % 4}`, n % 5)] : []),
      ...(n % 4 === 1 && earlier !== undefined ? [near(earlier, 1)] : []),
    ];
    // Some are so large that they stand apart.
    const text = `${this.#text()}${n % 4 === 2 ? "x".repeat(17_000) : ""}`;
    return { id, author: `user-${n % 3}`, text, context };
  }

  #event(turn: string, n: number): SessionEvent {
    const id = `event-${this.#made++}`;
    const content = this.#text();
    if (n % 2 === 0) return { id, at: "now", turn, message: { role: "assistant", content } };
    return { id, at: "now", turn, author: { id: "user-0", name: "" }, message: { role: "user", content } };
  }

  #forget(changed: boolean): void {
    if (changed) this.#forgotten = this.#dead();
  }

  /** What was said and is nowhere any more. */
  #dead(): string[] {
    const live = [...this.#models.values()].flatMap((model) => [...model.texts()]).join();
    return [...this.#texts].filter((text) => !live.includes(text));
  }
}

function inputOf({ id, author, text, context }: PlainInput) {
  return {
    id,
    content: text,
    author: { id: author, name: "" },
    context: context.map((each) => ({ ...each, author: { id: each.author, name: "" } })),
  };
}

function plain({ id, seq, turn, author, context = [], erased, message }: SessionEvent) {
  return {
    seq,
    id,
    role: message.role as "user" | "assistant",
    text: message.content as string,
    turn,
    ...(author && { author: author.id }),
    context: context.map((each) => ({ ...each, author: each.author.id })),
    erased: erased === true,
  };
}

function withoutSeq({ seq: _seq, ...event }: ReturnType<typeof plain>) {
  return event;
}

const runs: Record<string, number> = { memory: 40, SQLite: 4 };

describe.each(everyPlace)("Sessions in $kind", ({ kind, makePlace }) => {
  it("equal plain arrays, whatever happens to them in whatever order, and what is forgotten is nowhere", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60, size: "max" }), async (commands) => {
        const place = await makePlace();
        const files = "path" in place ? ["", "-wal", "-shm"].map((suffix) => `${place.path}${suffix}`) : [];
        try {
          const world = new World(place);
          await world.start();
          for (const each of commands) {
            await world.do(each);
            await world.check();
          }
          await world.end(files);
        } finally {
          await place.remove();
        }
      }),
      { numRuns: runs[kind] ?? 2 },
    );
  }, 120_000);
});
