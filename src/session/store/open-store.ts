import { ThreadkeeperError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { openMemoryStore } from "./memory.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store that a setting names: `sqlite:<path>`, or a path that ends in `.sqlite` or `.db`; or `memory:`, which
 * must be asked for by that word, since it forgets everything when the process ends.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID` and what opening throws
 */
export async function openStore(setting: string, options: { readonly log?: Logger } = {}): Promise<Store> {
  if (setting === "memory:") return openMemoryStore();
  const path = setting.startsWith("sqlite:") ? setting.slice("sqlite:".length).replace(/^\/\/(?=.)/, "") : setting;
  const named = setting.startsWith("sqlite:") || /\.(?:sqlite|db)$/.test(setting);
  if (!named || path === "" || path.includes(":memory:") || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new ThreadkeeperError(
      "STORE_SETTING_INVALID",
      // What stands before an @ in a URL may be a password.
      `SESSION_STORE "${setting.replace(/\/\/.*@/, "//…@")}" names no store: allowed are sqlite:<path>, a path that ends in .sqlite or .db, and memory: (forgets all when the process ends)`,
    );
  }
  return openSqliteStore(path, options);
}
