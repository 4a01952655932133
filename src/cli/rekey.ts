import { openLockedStore } from "../session/store/open-store.ts";
import { rekeyStore } from "../session/store/rekey-store.ts";
import { openLog } from "./open-log.ts";
import { readSettings } from "./settings.ts";
import { existingStore } from "./store-setting.ts";

/** Rewrites the store from SESSION_KEY_OLD to SESSION_KEY, either of which may be none. Gives the exit code. */
export async function rekey(): Promise<number> {
  const config = readSettings();
  const store = await openLockedStore(existingStore(config), { log: openLog(config) });
  try {
    const { rewritten, unreadable } = await rekeyStore({
      store,
      from: config.oldSessionKey,
      to: config.sessionKey,
      takeOverMs: config.takeOverMs,
      onProgress: (done) => console.log(`${done} values gone through`),
    });
    for (const key of unreadable) console.error(`${key} can be read with neither key, and was left as it is`);
    const state = config.sessionKey ? "encrypted with SESSION_KEY" : "not encrypted";
    console.log(
      rewritten + unreadable.length === 0
        ? `Nothing to do: what is in ${store.description} is ${state}.`
        : `${rewritten} values of ${store.description} were written anew, and are ${state}.`,
    );
    return unreadable.length === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}
