import { describe, expect, it } from "vitest";
import { hasCode } from "../../src/errors.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { controlKey } from "../../src/session/session-record.ts";
import { all, bob, input, runOf, SessionRoom } from "../support/session-room.ts";
import { contents } from "../support/store-contract.ts";
import { memoryPlace } from "../support/store-places.ts";

const verbs: Record<string, (sessions: SessionManager) => Promise<unknown>> = {
  erase: (sessions) => sessions.erase(["1", "0", "4"]),
  amend: (sessions) => sessions.amend("s", { id: "4", content: "other words" }),
  rewind: (sessions) => sessions.rewind("s"),
  fork: (sessions) => sessions.fork("s", { sessionId: "f" }),
  reset: (sessions) => sessions.reset("s"),
  delete: (sessions) => sessions.delete("s"),
};

async function makeRoom(): Promise<SessionRoom> {
  const room = await SessionRoom.open(memoryPlace);
  const context = [{ id: "0", author: bob, text: "near" }];
  await room.turn("s", input("1", { content: "x".repeat(20_000), context, places: ["here"] }));
  await room.turn("s", input("2"));
  runOf(await room.sessions.take("s", input("3")));
  await room.sessions.take("s", input("4", { context }));
  return room;
}

/** All that a session is, but for what is drawn by lot. */
async function stateOf(room: SessionRoom): Promise<unknown> {
  const { sessions } = room;
  const listed = await sessions.list();
  const shown = await Promise.all(
    listed.map(async ({ sessionId }) => {
      const { version: _version, ...session } = (await sessions.get(sessionId)) ?? { version: "" };
      return [session, await all(sessions.history(sessionId))];
    }),
  );
  const stored = await contents(room.store);
  const keys = Object.keys(stored).filter((key) => !/^(owner|alive|open)\//.test(key));
  const waiting = listed.map(({ sessionId }) => JSON.parse(stored[controlKey(sessionId)] as string).waiting);
  const text = JSON.stringify([listed, shown, keys, waiting]);
  return JSON.parse(text.replace(/"(turn|at|active)":"[^"]*"/g, '"$1":""'));
}

for (const [verb, act] of Object.entries(verbs)) {
  describe(`A store that fails at any one call of ${verb}`, () => {
    for (const failAfterwards of [false, true]) {
      it(`${failAfterwards ? "after it did it" : "before it did anything"}: all of it is done or nothing, and it can be repeated`, async () => {
        const untouched = await makeRoom();
        const before = await stateOf(untouched);
        await act(untouched.sessions);
        const after = await stateOf(untouched);
        expect(after).not.toEqual(before);
        let calls = 0;
        for (let failAt = 1; ; failAt++) {
          const room = await makeRoom();
          room.store.calls = 0;
          room.store.failAt = failAt;
          room.store.failAfterwards = failAfterwards;
          const failed = await act(room.sessions).then(
            () => undefined,
            (error: unknown) => error,
          );
          room.store.failAt = Number.POSITIVE_INFINITY;
          if (!failed) break;
          calls = failAt;
          expect(hasCode(failed, "STORE_UNAVAILABLE")).toBe(true);
          expect([before, after]).toContainEqual(await stateOf(room));
          await act(room.sessions).catch((error: unknown) => {
            // It was done, and could not say so.
            if (!hasCode(error, "SESSION_EXISTS")) throw error;
          });
          if (verb !== "rewind") expect(await stateOf(room)).toEqual(after);
          await room.close();
        }
        expect(calls).toBeGreaterThan(0);
        await untouched.close();
      });
    }
  });
}
