import fc from "fast-check";
import { expect, it } from "vitest";
import { newControl } from "../../src/session/control.ts";
import { findTurn } from "../../src/session/find-turn.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { controlKey, eventKey, formatRecord } from "../../src/session/session-record.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";

it("A turn stands where its newest events are next to each other, wherever pages end", async () => {
  const blocks = fc.array(
    fc.record({ turn: fc.constantFrom("a", "b", "c"), length: fc.constantFrom(1, 2, 255, 256) }),
    {
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(blocks, fc.constantFrom("a", "b", "c", undefined), async (made, named) => {
      const turns = made.flatMap(({ turn, length }): string[] => Array.from({ length }, () => turn));
      const store = openMemoryStore(new Map());
      const control = { ...newControl("r"), count: turns.length };
      const put = new Map([[controlKey("s"), formatRecord(control)]]);
      for (const [seq, turn] of turns.entries()) {
        const event: SessionEvent = { id: `${seq}`, seq, at: "now", turn, message: { role: "user", content: "x" } };
        put.set(eventKey("s", seq), formatRecord({ event }));
      }
      await store.commit({ key: controlKey("s"), was: undefined, put });
      const turn = named ?? turns.at(-1);
      const to = turns.lastIndexOf(turn as string) + 1;
      const from = turns.slice(0, to).findLastIndex((each) => each !== turn) + 1;
      expect(await findTurn(store, "s", control, named)).toEqual(to === 0 ? undefined : { turn, from, to });
      if (turns.length > 0) expect(await findTurn(store, "s", { ...control, revision: "old" }, named)).toBe("moved");
    }),
    { numRuns: 40 },
  );
});
