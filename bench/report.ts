import type { Cell } from "./cell.ts";
import { median, quantile } from "./statistics.ts";
import type { Target } from "./targets.ts";
import { wayKinds } from "./ways/all.ts";

const head = [
  "events",
  "at once",
  "mechanism",
  "median ms",
  "p95 ms",
  "turns/s",
  "commits",
  "KB a turn",
  "disk MB",
  "memory MB",
];
const widths = [7, 7, 23, 9, 8, 8, 7, 9, 8, 9];

export const tableHead: string = line(head);

export function tableLine(cell: Cell): string {
  const { way, processes, events, sessions, turnMs, turnsPerSecond, commitsPerTurn, bytesPerTurn } = cell;
  return line([
    String(events),
    processes === 1 ? String(sessions) : `${processes}x${sessions / processes}`,
    wayKinds[way].name,
    milliseconds(median(turnMs)),
    milliseconds(quantile(turnMs, 0.95)),
    median(turnsPerSecond).toFixed(0),
    commitsPerTurn.toFixed(commitsPerTurn % 1 === 0 ? 0 : 2),
    bytesPerTurn === undefined ? "?" : (bytesPerTurn / 1024).toFixed(1),
    (cell.diskBytes / 1e6).toFixed(1),
    (cell.memoryBytes / 1e6).toFixed(0),
  ]);
}

/** One row, for programs. */
export function jsonLine({ way, turnMs, turnsPerSecond, ...cell }: Cell): string {
  return JSON.stringify({
    mechanism: wayKinds[way].name,
    ...cell,
    turns: turnMs.length,
    medianMs: rounded(median(turnMs)),
    p95Ms: rounded(quantile(turnMs, 0.95)),
    turnsPerSecond: rounded(median(turnsPerSecond)),
  });
}

export function targetLine({ what, reached, wanted, isMet, limit }: Target): string {
  const verdict = isMet === undefined ? "" : isMet ? "met" : "missed";
  const told = `${verdict.padEnd(6)}  ${what}: ${reached.toFixed(2)} times (${wanted})`;
  return isMet !== false ? told : `${told}\n        what limits it: ${limit}`;
}

function line(columns: readonly string[]): string {
  return columns
    .map((text, index) => (index === 2 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0)))
    .join("  ");
}

function milliseconds(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
