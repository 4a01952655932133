import type { Author, SessionEvent } from "../../src/session/session-event.ts";
import type { Input, Run, SessionManager, Taken } from "../../src/session/session-manager.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions, type SessionsOptions } from "../../src/session/store-session-manager.ts";
import { FaultyStore } from "./faulty-store.ts";
import { contents, type StorePlace } from "./store-contract.ts";

export const ada: Author = { id: "ada", name: "Ada" };
export const bob: Author = { id: "bob", name: "Bob" };

/** A store with sessions in it, and what a test wants to do to them again and again. */
export class SessionRoom {
  readonly place: StorePlace;
  /** Counts, and fails when it is told to. */
  readonly store: FaultyStore;
  readonly sessions: SessionManager;
  readonly #stores: Store[];
  #made = 0;

  private constructor(place: StorePlace, store: FaultyStore, sessions: SessionManager) {
    this.place = place;
    this.store = store;
    this.sessions = sessions;
    this.#stores = [store];
  }

  static async open(makePlace: () => Promise<StorePlace>): Promise<SessionRoom> {
    const place = await makePlace();
    const store = new FaultyStore(await place.open());
    // No beat comes between the calls that are counted, and a clock that is moved by hours makes nobody late.
    return new SessionRoom(place, store, await openSessions({ store, takeOverMs: 360_000_000 }));
  }

  /** Another process, as far as the store can tell. */
  async another(options: Partial<SessionsOptions> = {}): Promise<SessionManager> {
    const store = await this.place.open();
    this.#stores.push(store);
    return openSessions({ store, ...options });
  }

  /** A whole turn: its input, an answer, its end. Returns its name. */
  async turn(sessionId: string, input: Input, answer = `answer to ${input.id}`): Promise<string> {
    const run = runOf(await this.sessions.take(sessionId, input, { create: true }));
    await this.answer(run, answer);
    await this.sessions.finish(run);
    return run.turn;
  }

  async answer(run: Run, answer: string): Promise<void> {
    const event: SessionEvent = {
      id: `answer-${this.#made++}`,
      at: "2026-01-01T00:00:00.000Z",
      turn: run.turn,
      message: { role: "assistant", content: answer },
    };
    const { session } = run;
    await this.sessions.save({ ...session, events: [...session.events, event] }, { run, ended: {} });
  }

  /** So many turns at once, as `turn` makes them. Returns their names. */
  async turns(sessionId: string, count: number): Promise<string[]> {
    const session = await this.sessions.create({ sessionId });
    const names = Array.from({ length: count }, (_, index) => `turn-${index}`);
    const events = names.flatMap((turn, index): SessionEvent[] => [
      {
        id: `${index}`,
        at: "2026-01-01T00:00:00.000Z",
        turn,
        author: ada,
        message: { role: "user", content: `words of ${index}` },
      },
      {
        id: `answer-to-${index}`,
        at: "2026-01-01T00:00:00.000Z",
        turn,
        message: { role: "assistant", content: `answer to ${index}` },
      },
    ]);
    await this.sessions.save({ ...session, events });
    return names;
  }

  async texts(sessionId: string): Promise<unknown[] | undefined> {
    return (await this.sessions.get(sessionId))?.events.map(({ message }) => message.content);
  }

  /** All keys that have the session's id in them. */
  async keys(sessionId: string): Promise<string[]> {
    return Object.keys(await contents(this.store)).filter((key) => key.split("/").includes(sessionId));
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.place.remove();
  }
}

export function input(id: string, more: Partial<Input> = {}): Input {
  return { id, content: `words of ${id}`, author: ada, ...more };
}

export function runOf(taken: Taken): Run {
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  return taken.run;
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
