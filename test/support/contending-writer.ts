/** A process that adds so many events to a store in which others do the same, under one guard. */
import { openStore } from "../../src/session/store/open-store.ts";
import { contend } from "./store-contract.ts";

const [setting, name, events] = process.argv.slice(2) as [string, string, string];
const store = await openStore(setting);
process.send?.("ready");
process.once("message", async () => {
  await Promise.all([contend(store, `${name}a`, Number(events)), contend(store, `${name}b`, Number(events))]);
  await store.close();
  process.disconnect?.();
});
