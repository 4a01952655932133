import { describe, expect, it } from "vitest";
import { Batches } from "../../../src/session/store/batches.ts";

interface Job {
  readonly name: string;
}

function recorded(run: (batch: readonly Job[]) => Promise<readonly string[]>, most = 10) {
  const seen: string[][] = [];
  const batches = new Batches<Job, string>({
    choose: (waiting) => waiting.slice(0, most),
    run: async (batch) => {
      seen.push(batch.map((job) => job.name));
      return run(batch);
    },
    mayBeOneJobs: (error) => (error as Error).message === "one of them",
  });
  const addAll = (...names: string[]) => Promise.allSettled(names.map((name) => batches.add({ name })));
  return { seen, batches, addAll };
}
const echo = async (batch: readonly Job[]) => batch.map((job) => job.name);

describe("Batches", () => {
  it("do what is added in one go at once, in order, and give each its own result", async () => {
    const { seen, addAll } = recorded(echo, 2);
    const settled = await addAll("a", "b", "c");
    expect(settled.map((each) => each.status === "fulfilled" && each.value)).toEqual(["a", "b", "c"]);
    expect(seen).toEqual([["a", "b"], ["c"]]);
  });

  it("have one in flight; what comes meanwhile shares the next", async () => {
    let inFlight = 0;
    const { seen, batches, addAll } = recorded(async (batch) => {
      expect(++inFlight).toBe(1);
      await undefined;
      inFlight--;
      return echo(batch);
    });
    const first = batches.add({ name: "a" }).then(() => addAll("b", "c"));
    await first;
    await batches.idle();
    expect(seen).toEqual([["a"], ["b", "c"]]);
    await batches.idle();
  });

  it("that fail because of one job try each alone; only that one fails", async () => {
    const { seen, addAll } = recorded(async (batch) => {
      if (batch.some((job) => job.name === "bad")) throw new Error("one of them");
      return echo(batch);
    });
    const settled = await addAll("a", "bad", "b");
    expect(settled.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(seen).toEqual([["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
  });

  it("that fail as a whole fail for all of it, and the next is tried anew", async () => {
    let broken = true;
    const { seen, addAll } = recorded(async (batch) => {
      if (broken) throw new Error("all of them");
      return echo(batch);
    });
    expect((await addAll("a", "b")).map((each) => each.status)).toEqual(["rejected", "rejected"]);
    broken = false;
    expect((await addAll("c")).map((each) => each.status)).toEqual(["fulfilled"]);
    expect(seen).toEqual([["a", "b"], ["c"]]);
  });
});
