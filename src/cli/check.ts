import { checkStore } from "../session/check-store.ts";
import { countSessions } from "../session/store-walk.ts";
import { counted } from "./counted.ts";
import { readSettings } from "./settings.ts";
import { existingStore } from "./store-setting.ts";
import { openToolStore } from "./tool-store.ts";

/** Tells what is wrong in the store, one line each. Gives 1 if something is. */
export async function check(): Promise<number> {
  const config = readSettings();
  const store = await openToolStore(config, { setting: existingStore(config), readOnly: true });
  try {
    let wrong = 0;
    for await (const { message } of checkStore(store)) {
      wrong += 1;
      console.log(message);
    }
    const verdict = wrong === 0 ? "all is well" : `${counted(wrong, "fault")} found`;
    // An empty store is well, too.
    console.log(`${store.description}: ${counted(await countSessions(store), "session")}, ${verdict}.`);
    return wrong === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}
