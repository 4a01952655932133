import { expect, it } from "vitest";
import { Lanes } from "../src/lanes.ts";

it("Jobs with the same key run one after another, also behind one that failed; others run side by side", async () => {
  const lanes = new Lanes();
  const seen: string[] = [];
  const job =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`);
      await undefined;
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = await Promise.allSettled([
    lanes.run("a", job("a1", true)),
    lanes.run("a", job("a2")),
    lanes.run("b", job("b1")),
  ]);
  expect(all.map((each) => each.status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(seen).toEqual(["a1 begins", "b1 begins", "a1 ends", "b1 ends", "a2 begins", "a2 ends"]);
});

it("Lanes are idle when the last job has ended, also those that were added meanwhile", async () => {
  const lanes = new Lanes();
  const ended: string[] = [];
  await lanes.idle();
  void lanes.run("a", async () => {
    await undefined;
    void lanes.run("b", async () => void ended.push("b"));
    ended.push("a");
  });
  await lanes.idle();
  expect(ended).toContain("a");
  expect(ended).toContain("b");
});
