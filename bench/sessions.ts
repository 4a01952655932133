import { rm, stat } from "node:fs/promises";
import path from "node:path";
import { type Cell, type Contestant, measure } from "./cell.ts";
import { MeasuredProcess } from "./measured-process.ts";
import type { WayId } from "./ways/all.ts";

export interface SessionsPlan {
  readonly folder: string;
  readonly ways: readonly WayId[];
  readonly lengths: readonly number[];
  /** How many sessions are worked on at once. */
  readonly atOnce: readonly number[];
  readonly rounds: number;
  /** How many events a file of this way may hold in all; what is more is left out. */
  readonly mostEvents: (way: WayId) => number;
  /** Called with each finished group of lines. */
  readonly onCells: (cells: readonly Cell[]) => void;
}

/** Measures every way at every length with so many sessions at once, in alternating rounds. */
export async function measureSessions(plan: SessionsPlan): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const events of plan.lengths) {
    const fits = (way: WayId, sessions: number) => sessions * events <= plan.mostEvents(way);
    const contestants = new Map<WayId, Contestant>();
    try {
      for (const way of plan.ways) {
        const sessions = Math.max(0, ...plan.atOnce.filter((count) => fits(way, count)));
        if (sessions > 0) contestants.set(way, await enter(plan.folder, way, { sessions, events, processes: 1 }));
      }
      for (const sessions of plan.atOnce) {
        const there = plan.ways.filter((way) => fits(way, sessions)).flatMap((way) => contestants.get(way) ?? []);
        const turns = (way: WayId) => turnsARound(way, events, sessions);
        const measured = await measure(there, { events, sessions, rounds: plan.rounds, turns });
        plan.onCells(measured);
        cells.push(...measured);
      }
    } finally {
      await leave(plan.folder, contestants.values());
    }
  }
  return cells;
}

/** The same for two processes on one file. */
export async function measureTwoProcesses(
  plan: Pick<SessionsPlan, "folder" | "ways" | "rounds" | "onCells">,
  { events, sessions }: { readonly events: number; readonly sessions: number },
): Promise<Cell[]> {
  const contestants: Contestant[] = [];
  try {
    for (const way of plan.ways) contestants.push(await enter(plan.folder, way, { sessions, events, processes: 2 }));
    const turns = (way: WayId) => turnsARound(way, events, sessions);
    const cells = await measure(contestants, { events, sessions, rounds: plan.rounds, turns });
    plan.onCells(cells);
    return cells;
  } finally {
    await leave(plan.folder, contestants);
  }
}

/** So many that a round is long beside what disturbs it, and short beside all rounds. */
function turnsARound(way: WayId, events: number, sessions: number): number {
  const turns = sessions === 1 ? 100 : sessions < 20 ? 40 : 15;
  if (way !== "oneValue") return turns;
  return Math.max(1, Math.min(turns, Math.floor(20_000 / (events * sessions))));
}

/**
 * A bot runs for days: what is measured is code that has run for a while, and not its compilation. In a session of its
 * own, so that the others stay as long as they are.
 */
async function warmUp(way: WayId, processes: readonly MeasuredProcess[], events: number, session: number) {
  const turns = way === "oneValue" ? Math.max(1, Math.min(1000, Math.floor(20_000 / events))) : 2000;
  for (const process of processes) await process.ask({ do: "round", sessions: [session], turns });
}

async function enter(
  folder: string,
  way: WayId,
  { sessions, events, processes }: { sessions: number; events: number; processes: number },
): Promise<Contestant> {
  const file = fileOf(folder, way);
  const first = await MeasuredProcess.start(way, file);
  await first.ask({ do: "fill", sessions: sessions + 1, events });
  const others: MeasuredProcess[] = [];
  while (others.length + 1 < processes) others.push(await MeasuredProcess.start(way, file));
  await warmUp(way, [first, ...others], events, sessions);
  const disk = async () => (await sizeOf(file)) + (await sizeOf(`${file}-wal`));
  return { way, processes: [first, ...others], disk };
}

async function leave(folder: string, contestants: Iterable<Contestant>): Promise<void> {
  for (const { way, processes } of contestants) {
    for (const process of processes) await process.end();
    for (const suffix of ["", "-wal", "-shm"]) await rm(fileOf(folder, way) + suffix, { force: true });
  }
}

function fileOf(folder: string, way: WayId): string {
  return path.join(folder, `${way}.sqlite`);
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
