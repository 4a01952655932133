/**
 * What a turn costs in our sessions, beside other ways of keeping them. Every way has a process of its own, the same
 * file system, WAL and a full sync of every commit; rounds alternate, and what is judged is the median of the ratios
 * of the rounds, so that what disturbs the machine disturbs all alike.
 *
 *     npm run bench                        ours beside one value per session, as Keyv is mostly used (about a minute)
 *     npm run bench -- sessions            and beside hand-written rows, with the targets (ten minutes, 9 GB)
 *     npm run bench -- sessions --quick    shorter files, fewer rounds (two minutes)
 *     npm run bench -- sessions --json     one JSON object a row
 *
 * Two durable commits a turn for all (the user's words before the model is called, the answer after), but for "the
 * bot's turn", which has its queue and its fence in the store too: three.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Cell } from "./cell.ts";
import { jsonLine, tableHead, tableLine, targetLine } from "./report.ts";
import { measureSessions, measureTwoProcesses, type SessionsPlan } from "./sessions.ts";
import { judge } from "./targets.ts";
import { type WayId, wayKinds } from "./ways/all.ts";
import { loadDriver } from "./ways/rows.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    /** Where the files are written; what is measured is that disk. */
    folder: { type: "string", default: tmpdir() },
  },
});
const [subject = "keyv", ...more] = positionals;
const folder = await mkdtemp(path.join(options.folder, "threadkeeper-bench-"));
process.exitCode = await run().finally(() => rm(folder, { recursive: true, force: true }));

async function run(): Promise<number> {
  if (more.length > 0 || !["keyv", "sessions"].includes(subject)) {
    console.error(`there is no bench "${positionals.join(" ")}"; there are: keyv (the default), sessions`);
    return 2;
  }
  if (subject === "keyv") {
    const lengths = [10, 100, 1_000, 10_000];
    show(await measureSessions(planFor(["ours", "oneValue"], lengths, [1])));
    return 0;
  }
  try {
    loadDriver();
  } catch (error) {
    console.error((error as Error).message);
    return 1;
  }
  const lengths = options.quick ? [100, 10_000] : [10, 100, 1_000, 10_000, 100_000];
  const ways: WayId[] = ["ours", "rows", "oursAsTheBot", "driver", "oneValue"];
  const plan = planFor(ways, lengths, [1, 8, 64]);
  const alone = await measureSessions(plan);
  const together = await measureTwoProcesses({ ...plan, ways: ["ours", "rows"] }, { events: 10_000, sessions: 64 });
  show([...alone, ...together]);
  return 0;
}

function planFor(ways: readonly WayId[], lengths: readonly number[], atOnce: readonly number[]): SessionsPlan {
  if (!options.json) console.log(tableHead);
  return {
    folder,
    ways,
    lengths,
    atOnce,
    rounds: options.quick ? 5 : 9,
    mostEvents: (way) => Math.min(wayKinds[way].mostEvents, options.quick ? 640_000 : Infinity),
    onCells: (cells) => {
      for (const cell of cells) console.log(options.json ? jsonLine(cell) : tableLine(cell));
    },
  };
}

function show(cells: readonly Cell[]): void {
  for (const target of judge(cells)) console.log(options.json ? JSON.stringify(target) : targetLine(target));
}
