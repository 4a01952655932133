import { chmod, type FileHandle, mkdir, open, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { ThreadkeeperError } from "../../errors.ts";
import { Lanes } from "../../lanes.ts";
import type { Logger } from "../../log.ts";

/** File systems of other machines, by the number that Linux gives them (https://man7.org/linux/man-pages/man2/statfs.2.html). */
const shares: Readonly<Record<number, string>> = {
  26985: "NFS",
  20859: "SMB",
  4283649346: "CIFS",
  4266872130: "SMB",
  1397113167: "AFS",
  12805120: "Ceph",
  198183888: "Lustre",
  1196443219: "GPFS",
};

interface FileOptions {
  readonly log: Logger;
  /** Nothing is made, and no mode is changed. */
  readonly readOnly: boolean;
}

/** What every SQLite database begins with (https://sqlite.org/fileformat.html#the_database_header). */
const header = Buffer.from("SQLite format 3\0");

/** File systems that may be either: FUSE (sshfs, but also disks), 9p (a host's folder in WSL or a container). */
const perhapsShares: Readonly<Record<number, string>> = { 1702057286: "FUSE", 16914839: "9p" };

/**
 * How many databases this process has open in a file. SQLite's locks on a file belong to the process, and are gone when
 * any handle of the process to that file is closed (https://sqlite.org/howtocorrupt.html, 2.2): another process would
 * then take the log away from under the connections that there are. So who has a file open must not look into it again.
 */
const inUse = new Map<string, number>();
const preparations = new Lanes();

/**
 * Makes the database's file and its directory if they don't exist, for this user only. SQLite gives its side files the
 * mode of the file, so that it must be right before they are made. A directory that exists keeps its mode: it may
 * hold more than this file. To be ended when the database is closed.
 * @throws ThreadkeeperError `STORE_UNAVAILABLE`, `STORE_CORRUPT`
 */
export function prepareFile(path: string, description: string, options: FileOptions): Promise<{ end(): void }> {
  return preparations.run(path, async () => {
    await prepare(path, description, options);
    inUse.set(path, (inUse.get(path) ?? 0) + 1);
    return { end: () => void inUse.set(path, (inUse.get(path) ?? 1) - 1) };
  });
}

async function prepare(path: string, description: string, { log, readOnly }: FileOptions): Promise<void> {
  const directory = dirname(path);
  try {
    if (!readOnly) await mkdir(directory, { recursive: true, mode: 0o700 });
    await checkShare(directory, description, log);
    if ((inUse.get(path) ?? 0) === 0) {
      const file = await open(path, readOnly ? "r" : "a+", 0o600);
      try {
        await checkHeader(file, description);
      } finally {
        await file.close();
      }
    }
    if (readOnly) return;
    await restrict(path);
    await Promise.all([restrict(`${path}-wal`, true), restrict(`${path}-shm`, true)]);
  } catch (error) {
    if (error instanceof ThreadkeeperError) throw error;
    throw unavailable(`${description} cannot be opened: ${reason(error)}`, error);
  }
  if (((await stat(directory)).mode & 0o077) !== 0) {
    log.debug({ directory }, "other users may look into the store's directory; the files in it are for this user only");
  }
}

/** Somebody else's file is refused before anything of it is changed, its mode included. */
async function checkHeader(file: FileHandle, description: string): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length), 0, header.length, 0);
  if (bytesRead === 0 || buffer.subarray(0, bytesRead).equals(header)) return;
  throw new ThreadkeeperError(
    "STORE_CORRUPT",
    `${description} is not a SQLite database: choose another path, or move that file away`,
  );
}

async function restrict(path: string, mayBeAbsent = false): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o177) !== 0) await chmod(path, 0o600);
  } catch (error) {
    if (!(mayBeAbsent && codeOf(error) === "ENOENT")) throw error;
  }
}

/** WAL needs memory that all who use the file share, so that it breaks on what several machines see. */
async function checkShare(directory: string, description: string, log: Logger): Promise<void> {
  const { type } = await statfs(directory);
  const share = shares[type >>> 0] ?? (/^(\\\\|\/\/)[^?.]/.test(directory) ? "a network share" : undefined);
  if (share) {
    throw unavailable(`${description} is on ${share}, where SQLite loses data: put it on a disk of this machine`);
  }
  const perhaps = perhapsShares[type >>> 0];
  if (perhaps)
    log.warn({ directory, fileSystem: perhaps }, "SQLite needs a disk of this machine: make sure that it is one");
}

const reasons: Readonly<Record<string, string>> = {
  EISDIR: "it is a directory; give the path of a file",
  EEXIST: "a part of its path is a file and no directory",
  ENOTDIR: "a part of its path is a file and no directory",
  ENOENT: "there is no such file",
  EACCES: "this user has no permission; check who owns it, and its directory",
  EPERM: "this user has no permission; check who owns it, and its directory",
  EROFS: "its file system is read-only",
  ENOSPC: "its disk is full",
};

function reason(error: unknown): string {
  return reasons[String(codeOf(error))] ?? String(error);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function unavailable(message: string, cause?: unknown): ThreadkeeperError {
  return new ThreadkeeperError("STORE_UNAVAILABLE", message, { cause });
}
