import { ThreadkeeperError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { openMemoryStore } from "./memory.ts";
import { openPostgresStore } from "./postgres.ts";
import { openRedisStore } from "./redis.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store that a setting names: `sqlite:<path>`, or a path that ends in `.sqlite` or `.db`; the address of a
 * PostgreSQL (`postgres:`, `postgresql:`), Redis (`redis:`, `rediss:` with TLS) or Valkey server (`valkey:`,
 * `valkeys:`); or `memory:`, which must be asked for by that word, since it forgets everything when the process ends.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID` and what opening throws
 */
export async function openStore(setting: string, options: { readonly log?: Logger } = {}): Promise<Store> {
  if (setting === "memory:") return openMemoryStore();
  if (/^postgres(?:ql)?:\/\//.test(setting)) return openPostgresStore(setting, options);
  if (/^(?:redis|valkey)s?:\/\//.test(setting)) return openRedisStore(setting, options);
  const path = setting.startsWith("sqlite:") ? setting.slice("sqlite:".length).replace(/^\/\/(?=.)/, "") : setting;
  const named = setting.startsWith("sqlite:") || /\.(?:sqlite|db)$/.test(setting);
  if (!named || path === "" || path.includes(":memory:") || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new ThreadkeeperError(
      "STORE_SETTING_INVALID",
      // What stands before an @ in a URL may be a password.
      `SESSION_STORE "${setting.replace(/\/\/.*@/, "//…@")}" names no store: allowed are sqlite:<path>, a path that ends in .sqlite or .db, postgres://…, redis://…, valkey://…, and memory: (forgets all when the process ends)`,
    );
  }
  return openSqliteStore(path, options);
}
