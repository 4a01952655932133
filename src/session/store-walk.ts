import { controlPrefix } from "./session-record.ts";
import { keyPages } from "./store/key-pages.ts";
import type { Store } from "./store/store.ts";

/** The ids of all sessions in a store, those of a plain Keyv (`naive-session.ts`) among them. */
export async function* sessionIds(store: Store): AsyncGenerator<string> {
  for await (const key of bareKeys(store)) yield key;
  for await (const page of keyPages(store, controlPrefix)) {
    for (const key of page) yield key.slice(controlPrefix.length);
  }
}

export async function countSessions(store: Store): Promise<number> {
  let count = 0;
  for await (const _ of sessionIds(store)) count += 1;
  return count;
}

/** Keys without a slash. What stands behind one slash is passed over as a whole, however much it is. */
async function* bareKeys(store: Store): AsyncGenerator<string> {
  let after = "";
  for (;;) {
    const page = await store.keys("", { after });
    if (page.length === 0) return;
    for (const key of page) {
      const slash = key.indexOf("/");
      if (slash < 0) yield key;
      // No key has a character as high as the one that follows the slash.
      after = slash < 0 ? key : `${key.slice(0, slash + 1)}\x7f`;
      if (slash >= 0) break;
    }
  }
}
