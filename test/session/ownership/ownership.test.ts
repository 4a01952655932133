import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ThreadkeeperError } from "../../../src/errors.ts";
import type { Run, SessionManager } from "../../../src/session/session-manager.ts";
import { controlKey, parseControl } from "../../../src/session/session-record.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { openSessions } from "../../../src/session/store-session-manager.ts";

const takeOverMs = 1_000;
const sessionIds = ["s", "t"];

/** A connection that takes its time on the way there and back, and can be cut: then what is under way is done, unheard. */
class SlowStore implements Store {
  readonly description = "slow";
  readonly #store: Store;
  readonly #delay: () => number;
  isCut = false;

  constructor(store: Store, delay: () => number) {
    this.#store = store;
    this.#delay = delay;
  }

  get = (keys: readonly string[]) => this.#call(() => this.#store.get(keys));
  commit: Store["commit"] = (change) => this.#call(() => this.#store.commit(change));
  keys: Store["keys"] = (prefix, options) => this.#call(() => this.#store.keys(prefix, options));
  close = async () => {};

  async #call<T>(call: () => Promise<T>): Promise<T> {
    await this.#pass();
    const result = await call();
    await this.#pass();
    return result;
  }

  async #pass(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#delay()));
    if (this.isCut) throw new ThreadkeeperError("STORE_UNAVAILABLE", "cut");
  }
}

/** A process that answers every turn it gets: each takes a while, and is saved before it is finished. */
class Worker {
  readonly store: SlowStore;
  readonly runs = new Set<Run>();
  readonly #answerMs: number;
  sessions: SessionManager | undefined;

  constructor(store: SlowStore, answerMs: number) {
    this.store = store;
    this.#answerMs = answerMs;
  }

  async open(): Promise<void> {
    const sessions = await openSessions({ store: this.store, takeOverMs });
    this.sessions = sessions;
    sessions.onUnfinished((ids) => {
      for (const sessionId of ids) void this.#takes(sessions, sessionId);
    });
  }

  hears(sessionId: string, id: string): void {
    if (this.sessions) void this.#takes(this.sessions, sessionId, id);
  }

  async #takes(sessions: SessionManager, sessionId: string, id?: string): Promise<void> {
    try {
      const input = id === undefined ? undefined : { id, content: id };
      const taken = await sessions.take(sessionId, input, { create: true });
      for (let run = taken.outcome === "run" ? taken.run : undefined; run; ) run = await this.#answers(sessions, run);
    } catch {
      // The store went away, or the run was lost.
    }
  }

  async #answers(sessions: SessionManager, run: Run): Promise<Run | undefined> {
    this.runs.add(run);
    try {
      if (!run.ended) {
        await new Promise((resolve) => setTimeout(resolve, this.#answerMs));
        const answer = {
          id: `answer of ${run.id}`,
          at: "2026-01-01T00:00:00.000Z",
          turn: run.turn,
          message: { role: "assistant" as const, content: run.inputs.map(({ id }) => id).join() },
        };
        const { session } = run;
        await sessions.save({ ...session, events: [...session.events, answer] }, { run, ended: {} });
      }
      this.runs.delete(run);
      return await sessions.finish(run);
    } finally {
      this.runs.delete(run);
    }
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 1_500 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("hear" as const), worker: fc.nat(2), session: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cut" as const, "mend" as const), worker: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), worker: fc.nat(2) }) },
);

describe("Of processes that come and go on a store that is slow and goes away", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("none has a run that another one took over, and in the end every input is answered once, in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 3, maxLength: 3 }),
        async (steps, delays, answerMs) => {
          const shared = openMemoryStore();
          let turn = 0;
          const delay = () => delays[turn++ % delays.length] ?? 0;
          const workers = answerMs.map((ms) => new Worker(new SlowStore(shared, delay), ms));
          const opened = Promise.all(workers.map((worker) => worker.open()));
          await vi.advanceTimersByTimeAsync(1_000);
          await opened;
          const heard: Record<string, string[]> = { s: [], t: [] };
          let count = 0;
          for (const planned of steps) {
            if (planned.do === "pass") {
              await passing(planned.ms, () => expectHeld(shared, workers));
              continue;
            }
            const worker = workers[planned.worker] as Worker;
            if (planned.do === "cut") worker.store.isCut = true;
            if (planned.do === "mend") worker.store.isCut = false;
            // The last one stays.
            if (planned.do === "leave" && workers.filter(({ sessions }) => sessions).length > 1) {
              worker.sessions?.close().catch(() => {});
              worker.sessions = undefined;
            }
            if (planned.do === "hear") {
              const sessionId = sessionIds[planned.session] as string;
              const id = `input-${count++}`;
              heard[sessionId]?.push(id);
              worker.hears(sessionId, id);
            }
          }
          for (const { store } of workers) store.isCut = false;
          await passing(60_000, () => expectHeld(shared, workers), 500);
          for (const sessionId of sessionIds) await expectAnswered(shared, sessionId, heard[sessionId] ?? []);
          const closing = Promise.all(workers.map(({ sessions }) => sessions?.close()));
          await vi.advanceTimersByTimeAsync(5_000);
          await closing;
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

/** Lets time pass, with a look now and then. */
async function passing(ms: number, look: () => Promise<void>, every = 25): Promise<void> {
  for (let passed = 0; passed < ms; passed += every) {
    await vi.advanceTimersByTimeAsync(every);
    await look();
  }
}

/** Who is sure of a run has it: nobody interrupts or resets anything here. */
async function expectHeld(store: Store, workers: readonly Worker[]): Promise<void> {
  for (const { sessions, runs } of workers) {
    if (!sessions?.isPresent()) continue;
    for (const run of runs) {
      if (run.signal?.aborted) continue;
      const { sessionId } = run.session;
      const [stored] = await store.get([controlKey(sessionId)]);
      const present = parseControl(sessionId, stored?.value).run?.id;
      expect(present).toBe(run.id);
    }
  }
}

async function expectAnswered(store: Store, sessionId: string, heard: readonly string[]): Promise<void> {
  const opening = openSessions({ store });
  await vi.advanceTimersByTimeAsync(100);
  const sessions = await opening;
  const session = await sessions.get(sessionId, { maxBytes: 10_000_000 });
  const words = (session?.events ?? []).map(({ message }) => message);
  const said = words.filter(({ role }) => role === "user").map(({ content }) => content as string);
  const answered = words
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => (content as string).split(","));
  // What the store did not take was not heard; its caller was told so.
  expect(new Set(said).size).toBe(said.length);
  expect(heard).toEqual(expect.arrayContaining(said));
  expect(answered).toEqual(said);
  expect(await sessions.unfinished()).toEqual([]);
  await sessions.close();
}

it("A run that is begun in the first moment after a sleep is not lost with those from before", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const store = openMemoryStore();
  const sessions = await openSessions({ store });
  const before = await sessions.take("s", { id: "1", content: "hello" }, { create: true });
  vi.setSystemTime(Date.now() + 3_600_000);
  const after = await sessions.take("t", { id: "2", content: "hello" }, { create: true });
  const signals = [before, after].map((taken) => taken.outcome === "run" && taken.run.signal?.aborted);
  expect(signals).toEqual([true, false]);
  vi.useRealTimers();
  await sessions.close();
});

it("A process is refused a name that would be read as two, or as nobody's", async () => {
  const store = openMemoryStore();
  for (const ownerId of ["", "-", "a/b", "a b", "é", "a".repeat(101)]) {
    await expect(openSessions({ store, ownerId })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      fields: { path: "ownerId" },
    });
  }
  for (const ownerId of ["a", "bot-1.blue_2", "a".repeat(100)]) await (await openSessions({ store, ownerId })).close();
});
