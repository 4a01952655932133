import type { Cell } from "./cell.ts";
import { medianRatio } from "./statistics.ts";
import type { WayId } from "./ways/all.ts";

/** What was aimed at, and what came of it: the median of the ratios of one round after another. */
export interface Target {
  readonly what: string;
  readonly reached: number;
  readonly wanted: string;
  /** `undefined`: nothing was aimed at, it is there for comparison. */
  readonly isMet: boolean | undefined;
  /** What stands in the way where it is missed, as far as profiles have shown it. */
  readonly limit: string;
}

interface Place {
  readonly way: WayId;
  readonly events: number;
  readonly sessions: number;
  readonly processes?: number;
}

interface Aim {
  readonly what: string;
  /** How many times more turns a second `of` makes than `than`; `inverse`: how many times longer one takes. */
  readonly of: Place;
  readonly than: Place;
  readonly inverse?: true;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly limit: string;
}

/** Seen in `--cpu-prof` runs of `way-process.ts`. */
const limits = {
  driver:
    "Keyv's SQLite driver sends each statement to another thread twice (prepare, run), where the rows' driver never leaves its own; the next line is what it takes without a guard and without any session, the rest is ours",
  thread: "one thread's JavaScript: JSON of control records and events, and the driver's work for each parameter",
  disk: "the disk: each group of commits waits for one sync, however many share it",
  tree: "the tree of keys is deeper, so that a commit writes more pages",
};

const usual = 10_000;
const ours = (sessions: number, events = usual): Place => ({ way: "ours", events, sessions });
const rows = (sessions: number): Place => ({ way: "rows", events: usual, sessions });

const aims: readonly Aim[] = [
  {
    what: "1 session, our time beside the rows'",
    of: ours(1),
    than: rows(1),
    inverse: true,
    atMost: 2,
    limit: limits.driver,
  },
  {
    what: "1 session, the time of Keyv's driver alone with the same rows, unguarded, beside the rows'",
    of: { way: "driver", events: usual, sessions: 1 },
    than: rows(1),
    inverse: true,
    limit: limits.driver,
  },
  {
    what: "8 sessions, our turns a second beside the rows'",
    of: ours(8),
    than: rows(8),
    atLeast: 1.5,
    limit: limits.thread,
  },
  {
    what: "64 sessions, our turns a second beside the rows'",
    of: ours(64),
    than: rows(64),
    atLeast: 2,
    limit: limits.thread,
  },
  {
    what: "our time at 100,000 events beside 100",
    of: ours(1, 100_000),
    than: ours(1, 100),
    inverse: true,
    atMost: 1.3,
    limit: limits.tree,
  },
  {
    what: "our speed beside one value per session, at 10,000 events",
    of: ours(1),
    than: { way: "oneValue", events: usual, sessions: 1 },
    atLeast: 50,
    limit: limits.driver,
  },
  {
    what: "two processes, our turns a second beside the rows'",
    of: { ...ours(64), processes: 2 },
    than: { ...rows(64), processes: 2 },
    atLeast: 1.5,
    limit: limits.disk,
  },
  {
    what: "64 sessions, the bot's own turn (a commit more) beside the rows'",
    of: { ...ours(64), way: "oursAsTheBot" },
    than: rows(64),
    atLeast: 1,
    limit: limits.thread,
  },
];

/** Those of which both sides were measured. */
export function judge(cells: readonly Cell[]): Target[] {
  return aims.flatMap(({ what, of, than, inverse, atLeast, atMost, limit }): Target[] => {
    const [ofCell, thanCell] = [find(cells, of), find(cells, than)];
    if (!ofCell || !thanCell) return [];
    const [above, below] = inverse ? [thanCell, ofCell] : [ofCell, thanCell];
    const reached = medianRatio(above.turnsPerSecond, below.turnsPerSecond);
    if (atMost !== undefined)
      return [{ what, reached, wanted: `wanted: at most ${atMost}`, isMet: reached <= atMost, limit }];
    if (atLeast === undefined) return [{ what, reached, wanted: "for comparison", isMet: undefined, limit }];
    return [{ what, reached, wanted: `wanted: at least ${atLeast}`, isMet: reached >= atLeast, limit }];
  });
}

function find(cells: readonly Cell[], { way, events, sessions, processes = 1 }: Place): Cell | undefined {
  return cells.find(
    (cell) => cell.way === way && cell.events === events && cell.sessions === sessions && cell.processes === processes,
  );
}
