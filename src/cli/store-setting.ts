import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import { ThreadkeeperError } from "../errors.ts";
import { sqlitePath } from "../session/store/open-store.ts";

/** Where the bot keeps its sessions: where the settings say, or in a place of Discord's or the sandbox's own. */
export function storeSetting({ sessionStore, discord }: Config): string {
  return sessionStore ?? `sqlite:data/${discord ? "" : "sandbox/"}sessions.sqlite`;
}

/**
 * The same, for a command, which ends at once and its memory with it.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`
 */
export function lastingStore(config: Config): string {
  const setting = storeSetting(config);
  if (setting === "memory:") {
    throw new ThreadkeeperError(
      "STORE_SETTING_INVALID",
      "SESSION_STORE is memory:, in which there is nothing to work on",
    );
  }
  return setting;
}

/**
 * The same, for what works on sessions that are there: it does not make an empty store by the way.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`, `STORE_UNAVAILABLE`
 */
export function existingStore(config: Config): string {
  const setting = lastingStore(config);
  const path = sqlitePath(setting);
  if (path === undefined || existsSync(path)) return setting;
  throw new ThreadkeeperError(
    "STORE_UNAVAILABLE",
    `there is no SQLite file ${path}: set SESSION_STORE, or start in its folder`,
  );
}
