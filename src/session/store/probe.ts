import type { Keyv } from "keyv";
import { ThreadkeeperError } from "../../errors.ts";
import { randomId } from "../random-id.ts";
import type { Store } from "./store.ts";

/**
 * Whether what is written comes back, to Keyv and to us, so that no failure waits for the first turn. Leaves nothing.
 * @throws ThreadkeeperError `STORE_UNAVAILABLE` and what `toError` makes of Keyv's failures
 */
export async function probe(keyv: Keyv<string>, store: Store, toError: (error: unknown) => Error): Promise<void> {
  const key = `probe/${randomId()}`;
  let seen: string | undefined;
  try {
    await keyv.set(key, key);
    seen = await keyv.get(key);
  } catch (error) {
    throw toError(error);
  }
  const [stored] = await store.get([key]);
  const gone = await store.commit({ key, was: stored?.version, put: new Map(), remove: [key] });
  if (seen === key && stored?.value === key && gone) return;
  throw new ThreadkeeperError("STORE_UNAVAILABLE", `${store.description} does not give back what was written to it`);
}
