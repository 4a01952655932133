import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ThreadkeeperError } from "../errors.ts";
import { isRunning } from "../session/ownership/running-process.ts";

/**
 * Makes a folder, if need be, and claims it for this process: two that keep their state in the same files would write
 * over each other. A claim of a process that is gone counts for nothing. Returns how to give it up.
 * @throws ThreadkeeperError `STORE_BUSY`, `STORE_UNAVAILABLE`
 */
export function claimFolder(folder: string): () => void {
  const file = path.join(folder, "in-use-by");
  try {
    claim(folder, file);
  } catch (cause) {
    if (cause instanceof ThreadkeeperError) throw cause;
    const why = `${folder} can't be used (${(cause as Error).message})`;
    throw new ThreadkeeperError("STORE_UNAVAILABLE", `${why}: check who owns it, or start in another folder`, {
      cause,
    });
  }
  return () => rmSync(file, { force: true });
}

function claim(folder: string, file: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const owner = Number(readFileSync(file, "utf8"));
    const isAnother = Number.isSafeInteger(owner) && owner > 0 && owner !== process.pid;
    if (isAnother && isRunning(owner)) {
      throw new ThreadkeeperError(
        "STORE_BUSY",
        `another Threadkeeper (process ${owner}) is using ${folder}: leave it first, or start in another folder (if that process is no Threadkeeper, delete ${file})`,
        { fields: { folder, owner } },
      );
    }
    writeFileSync(file, String(process.pid), { mode: 0o600 });
  }
}
