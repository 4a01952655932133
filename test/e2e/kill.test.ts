import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BuiltProgram } from "./support/built-program.ts";
import { killRun } from "./support/kill-run.ts";

// The long run is `npm run chaos`.
let program: BuiltProgram;
beforeAll(async () => {
  program = await BuiltProgram.build();
}, 60_000);
afterAll(() => program.remove());

describe("A bot that is killed again and again while people talk to it", () => {
  it.concurrent.each([
    { known: "three minutes", nonce: 180, seed: 1 },
    { known: "no time", nonce: 0, seed: 2 },
  ])(
    "stores every message once, answers it in exactly one turn, in order, and shows each chunk once (nonces are known for $known)",
    async ({ nonce, seed }) => {
      const { violations, folder, ...run } = await killRun({
        program,
        seed,
        messages: 20,
        threads: 4,
        kills: 8,
        awayShare: 0.4,
        nonceMs: nonce * 1000,
        limits: false,
      });
      const again = `npm run chaos -- --seed ${seed} --nonce ${nonce} --messages 20 --threads 4 --kills 8 --no-limits`;
      expect(violations, `the store and the logs are in ${folder}; again with: ${again}`).toEqual([]);
      expect(run).toMatchObject({ kills: 8, messages: 20 });
      expect(run.threads).toBeGreaterThan(1);
    },
    180_000,
  );
});
