import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hasCode, ThreadkeeperError } from "../../src/errors.ts";
import { checkStore } from "../../src/session/check-store.ts";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { ada, all, bob } from "../support/session-room.ts";
import { contents } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const expected = ["STORE_UNAVAILABLE", "RUN_LOST", "SESSION_NOT_FOUND", "SESSION_STALE", "STORE_BUSY"] as const;

/** The same numbers between 0 and 1 for the same seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/** A store that takes its time, and sometimes fails: before it does anything, or when it has done it. */
function unsteady(store: Store, chance: () => number, share: () => number): Store {
  const call = async <T>(job: () => Promise<T>): Promise<T> => {
    const luck = chance();
    await pause(chance() * 2);
    if (luck < share()) throw new ThreadkeeperError("STORE_UNAVAILABLE", "not done");
    const result = await job();
    if (luck > 1 - share()) throw new ThreadkeeperError("STORE_UNAVAILABLE", "done, and nobody is told");
    return result;
  };
  return {
    description: store.description,
    get: (keys) => call(() => store.get(keys)),
    commit: (change) => call(() => store.commit(change)),
    keys: (prefix, options) => call(() => store.keys(prefix, options)),
    close: () => store.close(),
  };
}

/** What has no outcome is asked for again, as the platform delivers again. */
async function insist<T>(job: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await job();
    } catch (error) {
      if (tries === 5 || !hasCode(error, "STORE_UNAVAILABLE")) throw error;
    }
  }
}

describe.each(everyPlace)("Two processes that do everything at once on $kind, while calls fail", ({ makePlace }) => {
  it.each([1, 2])(
    "lose no input, answer none twice, and leave a store that is whole (seed %i)",
    async (seed) => {
      const place = await makePlace();
      const chance = chances(seed);
      let share = 0;
      const stores = [await place.open(), await place.open()] as const;
      const processes = await Promise.all(
        stores.map((store) => openSessions({ store: unsteady(store, chance, () => share) })),
      );
      share = 0.04;
      const any = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
      const sessionIds = ["s", "t"];
      const taken = new Set<string>();
      /** Words that must be gone, and inputs that may be. */
      const [erased, withdrawn] = [new Set<string>(), new Set<string>()];
      let isRewound = false;
      let made = 0;

      const drive = async (sessions: SessionManager, first: Run): Promise<void> => {
        for (let run: Run | undefined = first; run; ) {
          const mine: Run = run;
          try {
            let { session } = mine;
            for (const ended of mine.ended ? [] : [undefined, {}]) {
              const event: SessionEvent = {
                id: `answer-${made++}`,
                at: "2026-01-01T00:00:00.000Z",
                turn: mine.turn,
                message: { role: "assistant", content: "a".repeat(chance() < 0.1 ? 20_000 : 5) },
              };
              const next: Session = { ...session, events: [...session.events, event] };
              session = await insist(() => sessions.save(next, { run: mine, ...(ended && { ended }) }));
            }
            run = await sessions.finish(mine);
          } catch (error) {
            sessions.release(mine);
            throw error;
          }
        }
      };
      const take = async (sessions: SessionManager, sessionId: string): Promise<void> => {
        const id = `15${String(made++).padStart(16, "0")}`;
        const context = chance() < 0.3 ? [{ id: `near-${id}`, author: bob, text: `words of near-${id}.` }] : [];
        const input = { id, content: `words of ${id}.`, author: ada, context, places: ["p"] };
        const { outcome, ...rest } = await insist(() => sessions.take(sessionId, input, { create: true }));
        if (outcome === "full") return;
        taken.add(id);
        if ("run" in rest) await drive(sessions, rest.run);
      };
      const erase = async (sessions: SessionManager): Promise<void> => {
        const ids = [...taken].filter(() => chance() < 0.1).flatMap((id) => [id, `near-${id}`]);
        for (const id of ids) withdrawn.add(id);
        await sessions.erase(ids);
        for (const id of ids) erased.add(id);
      };
      const rewind = async (sessions: SessionManager, sessionId: string): Promise<void> => {
        isRewound = true;
        for (const id of (await sessions.rewind(sessionId))?.inputs ?? []) withdrawn.add(id);
      };
      const fork = async (sessions: SessionManager, sessionId: string): Promise<void> => {
        sessionIds.push((await sessions.fork(sessionId)).sessionId);
      };
      const summarise = async (sessions: SessionManager, sessionId: string): Promise<void> => {
        const session = await sessions.get(sessionId);
        const starts = session?.events.filter(({ turn }, index, events) => turn !== events[index - 1]?.turn) ?? [];
        const upTo = starts.at(-1)?.seq;
        if (session && upTo !== undefined) await sessions.summarise(session, { upTo, text: `summary ${made++}` });
      };
      const takeUp = async (sessions: SessionManager): Promise<number> => {
        const open = await sessions.unfinished();
        for (const sessionId of open) {
          const found = await sessions.take(sessionId);
          if (found.outcome === "run") await drive(sessions, found.run);
        }
        return open.length;
      };
      const jobs = [take, take, take, take, take, erase, fork, summarise, takeUp, ...(seed % 2 === 0 ? [rewind] : [])];
      const lane = async (): Promise<void> => {
        for (let step = 0; step < 12; step++) {
          await any(jobs)(any(processes), any(sessionIds)).catch((error: unknown) => {
            if (!hasCode(error, ...expected)) throw error;
          });
        }
      };
      await Promise.all(Array.from({ length: 6 }, lane));

      share = 0;
      for (let left = 1; left > 0; ) {
        left = 0;
        for (const sessions of processes) left += await takeUp(sessions);
      }
      const said: string[] = [];
      const afterwards = await openSessions({ store: stores[0] });
      for (const sessionId of sessionIds) {
        const fresh = await afterwards.get(sessionId);
        for (const sessions of processes) expect(await sessions.get(sessionId)).toEqual(fresh);
        if (!fresh) continue;
        const ids = (await all(afterwards.history(sessionId))).map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        said.push(...ids);
      }
      // What a rewind took back it may not have been able to tell.
      if (!isRewound) expect([...taken].filter((id) => !said.includes(id) && !withdrawn.has(id))).toEqual([]);
      const left = JSON.stringify(await contents(stores[0]));
      expect([...erased].filter((id) => left.includes(`words of ${id}.`))).toEqual([]);
      const findings: string[] = [];
      for await (const { message } of checkStore(stores[0])) findings.push(message);
      expect(findings).toEqual([]);

      for (const sessions of [...processes, afterwards]) await sessions.close();
      for (const store of stores) await store.close();
      await place.remove();
    },
    60_000,
  );
});
