import { ThreadkeeperError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { unlockStore } from "./encrypted-store.ts";
import { openMemoryStore } from "./memory.ts";
import { openPostgresStore } from "./postgres.ts";
import { openRedisStore } from "./redis.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

export interface StoreOptions {
  readonly log?: Logger;
  /** 32 bytes, with which all values are encrypted at rest. Default: none, they stand there as they are. */
  readonly key?: Uint8Array | undefined;
  /** The store is only looked at: opening it changes nothing, and commits are refused. */
  readonly readOnly?: boolean;
}

/**
 * Opens the store that a setting names: `sqlite:<path>`, or a path that ends in `.sqlite` or `.db`; the address of a
 * PostgreSQL (`postgres:`, `postgresql:`), Redis (`redis:`, `rediss:` with TLS) or Valkey server (`valkey:`,
 * `valkeys:`); or `memory:`, which must be asked for by that word, since it forgets everything when the process ends.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`, `STORE_KEY_MISSING`, `STORE_KEY_WRONG`, `STORE_NOT_ENCRYPTED` and what
 * opening throws
 */
export async function openStore(setting: string, { key, ...options }: StoreOptions = {}): Promise<Store> {
  const store = await openLockedStore(setting, options);
  try {
    const unlocked = await unlockStore(store, key, options);
    return options.readOnly ? lookedAt(unlocked) : unlocked;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Not every server can refuse what is written, and a pooler before one may refuse to be asked to. */
function lookedAt(store: Store): Store {
  return {
    description: store.description,
    get: (keys) => store.get(keys),
    commit: async () => {
      throw new ThreadkeeperError("UNEXPECTED", `${store.description} was opened to be looked at only`);
    },
    keys: (prefix, options) => store.keys(prefix, options),
    close: () => store.close(),
  };
}

/** The same, as it stands on its disk: with encrypted values, if they are. */
export async function openLockedStore(setting: string, options: Omit<StoreOptions, "key"> = {}): Promise<Store> {
  if (setting === "memory:") return openMemoryStore();
  if (/^postgres(?:ql)?:\/\//.test(setting)) return openPostgresStore(setting, options);
  if (/^(?:redis|valkey)s?:\/\//.test(setting)) return openRedisStore(setting, options);
  const path = sqlitePath(setting);
  if (path === undefined) {
    throw new ThreadkeeperError(
      "STORE_SETTING_INVALID",
      // What stands before an @ in a URL may be a password.
      `SESSION_STORE "${setting.replace(/\/\/.*@/, "//…@")}" names no store: allowed are sqlite:<path>, a path that ends in .sqlite or .db, postgres://…, redis://…, valkey://…, and memory: (forgets all when the process ends)`,
    );
  }
  return openSqliteStore(path, options);
}

/** The file that a setting names; `undefined`: it names none. */
export function sqlitePath(setting: string): string | undefined {
  const path = setting.startsWith("sqlite:") ? setting.slice("sqlite:".length).replace(/^\/\/(?=.)/, "") : setting;
  const named = setting.startsWith("sqlite:") || /\.(?:sqlite|db)$/.test(setting);
  const other = path === "" || path.includes(":memory:") || /^[a-z][a-z0-9+.-]+:/i.test(path);
  return named && !other ? path : undefined;
}
