import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { KeyvSqlite } from "@keyv/sqlite";
import { ThreadkeeperError } from "../../errors.ts";
import { silentLogger } from "../../log.ts";
import { sqliteError } from "./sqlite-error.ts";
import { prepareFile } from "./sqlite-file.ts";

/**
 * A whole copy of a SQLite file, as of one moment, also while others write to it; for this user only, and durable.
 * What is encrypted stays so. (https://sqlite.org/lang_vacuum.html#vacuuminto)
 * @throws ThreadkeeperError `INPUT_INVALID` if `copy` is there already, or cannot be written; what opening a store throws
 */
export async function backupSqlite(path: string, copy: string): Promise<void> {
  const file = resolve(path);
  const description = `SQLite file ${file}`;
  const use = await prepareFile(file, description, { log: silentLogger, readOnly: true });
  try {
    await makeEmpty(copy);
    await copyInto(copy, new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout: 5000 }));
  } catch (error) {
    throw error instanceof ThreadkeeperError ? error : sqliteError(error, description);
  } finally {
    use.end();
  }
}

/** SQLite writes into an empty file, and leaves it the mode that it has. */
async function makeEmpty(copy: string): Promise<void> {
  try {
    await (await open(copy, "wx", 0o600)).close();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "is there already: name another file" : `cannot be written (${message})`;
    throw new ThreadkeeperError("INPUT_INVALID", `${copy} ${why}`, { cause });
  }
}

async function copyInto(copy: string, adapter: KeyvSqlite): Promise<void> {
  // Keyv's adapter also tells of a failed opening by an event.
  adapter.on("error", () => {});
  try {
    await adapter.query("VACUUM INTO ?", resolve(copy));
    const written = await open(copy, "r+");
    await written.sync().finally(() => written.close());
  } catch (error) {
    // A part of a copy could be taken for one.
    await rm(copy, { force: true });
    throw error;
  } finally {
    await adapter.disconnect().catch(() => undefined);
  }
}
