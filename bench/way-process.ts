/** One way of keeping sessions in a process of its own, so that its memory and its writes are its own. */
import { readFile } from "node:fs/promises";
import { type WayId, wayKinds } from "./ways/all.ts";
import type { Way } from "./ways/way.ts";

/** Asked by the parent, one at a time. */
export type Order =
  | { readonly do: "open"; readonly way: WayId; readonly file: string }
  | { readonly do: "fill"; readonly sessions: number; readonly events: number }
  /** So many turns in each of these sessions, all sessions at once. */
  | { readonly do: "round"; readonly sessions: readonly number[]; readonly turns: number }
  | { readonly do: "close" };

export interface Done {
  readonly error?: string;
  /** Of each turn, in milliseconds. */
  readonly turnMs: readonly number[];
  readonly elapsedMs: number;
  readonly commits: number;
  /** Handed to the system to be written; absent where it doesn't tell. */
  readonly bytes: number | undefined;
  /** What the process holds in memory, in bytes. */
  readonly memory: number;
}

let way: Way | undefined;

async function obey(order: Order): Promise<number[]> {
  if (order.do === "open") {
    way = await wayKinds[order.way].open(order.file);
    return [];
  }
  if (!way) throw new Error("nothing is open");
  if (order.do === "fill") await way.fill(order.sessions, order.events);
  if (order.do === "close") await way.close();
  return order.do === "round" ? round(way, order.sessions, order.turns) : [];
}

async function round(measured: Way, sessions: readonly number[], turns: number): Promise<number[]> {
  const turnMs: number[] = [];
  await Promise.all(
    sessions.map(async (session) => {
      for (let turn = 0; turn < turns; turn += 1) {
        const start = performance.now();
        await measured.turn(session);
        turnMs.push(performance.now() - start);
      }
    }),
  );
  return turnMs;
}

/** https://man7.org/linux/man-pages/man5/proc_pid_io.5.html */
async function bytesWritten(): Promise<number | undefined> {
  try {
    const written = /^wchar: (\d+)$/m.exec(await readFile("/proc/self/io", "utf8"));
    return written ? Number(written[1]) : undefined;
  } catch {
    return undefined;
  }
}

process.on("message", async (order: Order) => {
  const bytesBefore = await bytesWritten();
  const commitsBefore = way?.commits ?? 0;
  const start = performance.now();
  let done: Done = { turnMs: [], elapsedMs: 0, commits: 0, bytes: undefined, memory: 0 };
  try {
    const turnMs = await obey(order);
    const elapsedMs = performance.now() - start;
    const bytesAfter = await bytesWritten();
    done = {
      turnMs,
      elapsedMs,
      commits: (way?.commits ?? 0) - commitsBefore,
      bytes: bytesBefore === undefined || bytesAfter === undefined ? undefined : bytesAfter - bytesBefore,
      memory: process.memoryUsage.rss(),
    };
  } catch (error) {
    done = { ...done, error: String(error) };
  }
  process.send?.(done);
});
