import path from "node:path";
import { parseArgs } from "node:util";
import { ThreadkeeperError } from "../errors.ts";
import { backupSqlite } from "../session/store/backup-sqlite.ts";
import { sqlitePath } from "../session/store/open-store.ts";
import { openSqliteStore } from "../session/store/sqlite.ts";
import { countSessions } from "../session/store-walk.ts";
import { counted } from "./counted.ts";
import { readSettings } from "./settings.ts";
import { existingStore } from "./store-setting.ts";

/** Copies the SQLite file that the bot uses, which may be running, and says how many sessions are in the copy. */
export async function backup(words: readonly string[]): Promise<number> {
  const { positionals } = parseArgs({ args: [...words], options: {}, allowPositionals: true });
  const setting = existingStore(readSettings());
  const file = sqlitePath(setting);
  if (file === undefined) {
    const how = setting.startsWith("postgres") ? "pg_dump -t public.keyv" : "its append-only files, or BGSAVE";
    throw new ThreadkeeperError("STORE_SETTING_INVALID", `only a SQLite file is copied by this; here use ${how}`);
  }
  if (positionals.length > 1) throw new ThreadkeeperError("INPUT_INVALID", "one file, please: the copy's");
  const [copy = path.join(path.dirname(file), `backup-${new Date().toISOString().slice(0, 10)}.sqlite`)] = positionals;
  await backupSqlite(file, copy);
  console.log(`${counted(await sessionsIn(copy), "session")} copied to ${copy}`);
  return 0;
}

/** Read from the copy, not from what was copied. */
async function sessionsIn(copy: string): Promise<number> {
  const store = await openSqliteStore(copy, { readOnly: true });
  try {
    return await countSessions(store);
  } finally {
    await store.close();
  }
}
