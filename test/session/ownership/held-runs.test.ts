import { describe, expect, it } from "vitest";
import { HeldRuns } from "../../../src/session/ownership/held-runs.ts";

describe("A run that this process holds", () => {
  it("is held from before it is stored until it is let go of", () => {
    const held = new HeldRuns();
    held.begin("run", "s");
    expect([held.has("run"), held.sessions().has("s"), held.allStored()]).toEqual([true, true, []]);
    held.stored("run");
    expect(held.allStored()).toMatchObject([["run", { sessionId: "s" }]]);
    held.letGo("run");
    expect([held.has("run"), held.sessions().has("s"), held.allStored()]).toEqual([false, false, []]);
  });

  it("is lost to a later one of its session, but not to one that is only on its way", () => {
    const held = new HeldRuns();
    const first = held.begin("first", "s");
    const other = held.begin("other", "t");
    const second = held.begin("second", "s");
    held.stored("other");
    held.stored("first");
    expect([first.aborted, second.aborted]).toEqual([false, false]);
    held.stored("second");
    expect(first.reason).toMatchObject({ code: "RUN_LOST", fields: { sessionId: "s" } });
    expect([second.aborted, other.aborted, held.has("first")]).toEqual([false, false, false]);
  });

  it("is lost with all others, on their way or not, and then stays so", () => {
    const held = new HeldRuns();
    const [stored, onItsWay] = [held.begin("stored", "s"), held.begin("on its way", "t")];
    held.stored("stored");
    held.loseAll("asleep");
    expect([stored.reason, onItsWay.reason]).toMatchObject([{ code: "RUN_LOST" }, { code: "RUN_LOST" }]);
    held.stored("on its way");
    held.lose("stored", "again");
    expect(held.allStored()).toEqual([]);
    expect(held.has("on its way")).toBe(false);
  });
});
