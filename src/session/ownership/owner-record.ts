import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { JsonObject } from "../plain-json.ts";
import { formatRecord } from "../session-record.ts";
import { isRunning } from "./running-process.ts";

/** What tells one process from all others. */
export interface ProcessMark {
  /** The machine since it was started, and on it the container: wherever the same number means the same process. */
  readonly host: string;
  readonly pid: number;
  /** When it started, in milliseconds of the machine's own monotonic clock, which no clock change moves. */
  readonly start: number;
}

export const thisProcess: ProcessMark = {
  host: [hostname(), ...boot(), ...processNumbers()].join(" "),
  pid: process.pid,
  start: Math.round(Number(process.hrtime.bigint()) / 1e6 - process.uptime() * 1000),
};

/** What a process tells of itself with each beat. */
export interface OwnerRecord extends ProcessMark {
  /** For how long it may be silent, in milliseconds: others go by what it tells, whatever they are set to themselves. */
  readonly takeOverMs: number;
  /** Makes each record another one, so that who watches sees that the process lives. */
  readonly beat: number;
}

export function formatOwner(record: OwnerRecord): string {
  return formatRecord(record);
}

/**
 * Whether a process surely runs no more. Of one on another machine nothing can be said, nor of one whose number
 * somebody has: it may be another's by now.
 */
export function isDead({ host, pid, start }: JsonObject, here: ProcessMark): boolean {
  if (host !== here.host || typeof pid !== "number" || !(pid > 0) || typeof start !== "number") return false;
  // A restarted container gives its process the number that the dead one had.
  if (pid === here.pid) return Math.abs(start - here.start) >= 1000;
  return !isRunning(pid);
}

/** Two machines made from one image may have the same name, and both give out the same numbers. */
function boot(): string[] {
  try {
    return [readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()];
  } catch {
    return [];
  }
}

/** Two containers may have the same host name, and then the same numbers for different processes. */
function processNumbers(): string[] {
  try {
    return [readlinkSync("/proc/self/ns/pid")];
  } catch {
    return [];
  }
}
