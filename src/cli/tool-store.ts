import type { Config } from "../config.ts";
import { createLogger } from "../log.ts";
import { openStore } from "../session/store/open-store.ts";
import type { Store } from "../session/store/store.ts";
import { storeSetting } from "./store-setting.ts";

/** The store of the settings, for a command that works on it. What is to be said of it goes to standard error. */
export function openToolStore(
  config: Config,
  { setting = storeSetting(config), readOnly = false }: { readonly setting?: string; readonly readOnly?: boolean } = {},
): Promise<Store> {
  const write = (line: string): void => console.error(`threadkeeper: ${(JSON.parse(line) as { msg: string }).msg}`);
  const log = createLogger({ level: "warn", secrets: config.secrets, destination: { write } });
  return openStore(setting, { log, key: config.sessionKey, readOnly });
}
