import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ThreadkeeperError } from "../errors.ts";

/**
 * Makes a folder, if need be, and claims it for this process: two that keep their state in the same files would write
 * over each other. A claim of a process that is gone counts for nothing. Returns how to give it up.
 * @throws ThreadkeeperError `STORE_BUSY`
 */
export function claimFolder(folder: string): () => void {
  const file = path.join(folder, "in-use-by");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const owner = Number(readFileSync(file, "utf8"));
    if (isRunning(owner)) {
      throw new ThreadkeeperError(
        "STORE_BUSY",
        `another Threadkeeper (process ${owner}) is using ${folder}: leave it first, or start this one in another folder`,
        { fields: { folder, owner } },
      );
    }
    writeFileSync(file, String(process.pid), { mode: 0o600 });
  }
  return () => rmSync(file, { force: true });
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
