import type { MeasuredProcess } from "./measured-process.ts";
import type { Done } from "./way-process.ts";
import type { WayId } from "./ways/all.ts";

/** One line of the table: a way, at a length, with so many sessions at once. */
export interface Cell {
  readonly way: WayId;
  readonly processes: number;
  readonly events: number;
  readonly sessions: number;
  /** One a round; what targets are judged by. */
  readonly turnsPerSecond: readonly number[];
  readonly turnMs: readonly number[];
  readonly commitsPerTurn: number;
  readonly bytesPerTurn: number | undefined;
  readonly diskBytes: number;
  readonly memoryBytes: number;
}

export interface Contestant {
  readonly way: WayId;
  /** All on the same file. */
  readonly processes: readonly MeasuredProcess[];
  readonly disk: () => Promise<number>;
}

export interface CellPlan {
  readonly events: number;
  readonly sessions: number;
  readonly rounds: number;
  /** In each session, each round. */
  readonly turns: (way: WayId) => number;
}

/** Each round asks all contestants, one after the other; the first round only warms up. */
export async function measure(contestants: readonly Contestant[], plan: CellPlan): Promise<Cell[]> {
  const rounds = new Map<Contestant, Done[][]>(contestants.map((each) => [each, []]));
  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const contestant of contestants) {
      const done = await askAll(contestant, plan);
      if (round > 0) rounds.get(contestant)?.push(done);
    }
  }
  return Promise.all(contestants.map((each) => summed(each, plan, rounds.get(each) ?? [])));
}

/** The sessions are dealt out among the processes, which begin at the same time. */
function askAll({ processes, way }: Contestant, { sessions, turns }: CellPlan): Promise<Done[]> {
  const all = Array.from({ length: sessions }, (_, session) => session);
  return Promise.all(
    processes.map((process, index) => {
      const share = all.filter((session) => session % processes.length === index);
      return process.ask({ do: "round", sessions: share, turns: turns(way) });
    }),
  );
}

async function summed(
  { way, processes, disk }: Contestant,
  { events, sessions }: CellPlan,
  rounds: readonly (readonly Done[])[],
): Promise<Cell> {
  const all = rounds.flat();
  const turnMs = all.flatMap((done) => done.turnMs);
  const bytes = all.map((done) => done.bytes);
  return {
    way,
    processes: processes.length,
    events,
    sessions,
    turnsPerSecond: rounds.map((round) => {
      const turns = sum(round.map((done) => done.turnMs.length));
      return (turns / Math.max(...round.map(({ elapsedMs }) => elapsedMs))) * 1000;
    }),
    turnMs,
    commitsPerTurn: sum(all.map(({ commits }) => commits)) / turnMs.length,
    bytesPerTurn: bytes.includes(undefined) ? undefined : sum(bytes as number[]) / turnMs.length,
    diskBytes: await disk(),
    memoryBytes: sum((rounds.at(-1) ?? []).map(({ memory }) => memory)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
