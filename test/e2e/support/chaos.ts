/**
 * The long kill run, by hand:
 *
 *     npm run chaos                            240 messages in 16 threads, 120 kills, for both nonce windows
 *     npm run chaos -- --seed 42 --nonce 0     what a failing run says
 */
import { parseArgs } from "node:util";
import { BuiltProgram } from "./built-program.ts";
import { killRun } from "./kill-run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    /** Seconds; both 180 and 0 if it is not given. */
    nonce: { type: "string" },
    messages: { type: "string", default: "240" },
    threads: { type: "string", default: "16" },
    kills: { type: "string", default: "120" },
    away: { type: "string", default: "0.4" },
    "no-limits": { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const windows = values.nonce === undefined ? [180, 0] : [Number(values.nonce)];
const say = (line: string) => process.stdout.write(`${line}\n`);

const program = await BuiltProgram.build();
try {
  for (const nonce of windows) {
    const started = Date.now();
    say(`seed ${seed}, nonces remembered for ${nonce} s`);
    const { violations, ...result } = await killRun({
      program,
      seed,
      messages: Number(values.messages),
      threads: Number(values.threads),
      kills: Number(values.kills),
      awayShare: Number(values.away),
      nonceMs: nonce * 1000,
      limits: !values["no-limits"],
      onLife: say,
    });
    const { kills, messages, threads, modelCalls, folder } = result;
    say(
      `${kills} kills, ${messages} messages, ${threads} threads, ${modelCalls} model calls, ${Math.round((Date.now() - started) / 1000)} s`,
    );
    for (const violation of violations) say(`  WRONG ${violation}`);
    if (violations.length === 0) say("  nothing lost, nothing twice");
    else {
      process.exitCode = 1;
      say(`  the store and the logs are in ${folder}; again with: npm run chaos -- --seed ${seed} --nonce ${nonce}`);
    }
  }
} finally {
  await program.remove();
}
