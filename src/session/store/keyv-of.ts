import { Keyv, type KeyvStoreAdapter } from "keyv";
import type { Logger } from "../../log.ts";
import { keyvText } from "./keyv-text.ts";

/** What Keyv puts before a key unless told otherwise, so that a plain Keyv on an adapter finds the same. */
export const defaultNamespace = "keyv";

/**
 * Keyv iterates only over adapters that it knows by a `dialect` or `url` in their options, and throws a TypeError at one
 * whose options have neither. Nobody here iterates by it: each store lists its keys itself.
 */
class KeyvOfAnyAdapter extends Keyv<string> {
  override _checkIterableAdapter(): boolean {
    return false;
  }
}

/** A strict Keyv on `adapter`, or on a map: it throws what fails, and its values stand as `keyvText` has them. */
export function keyvOf(
  store: KeyvStoreAdapter | Map<string, string>,
  { namespace = defaultNamespace, log }: { readonly namespace?: string; readonly log: Logger },
): Keyv<string> {
  const keyv = new KeyvOfAnyAdapter({
    store,
    namespace,
    throwOnErrors: true,
    serialize: (data) => keyvText.serialize(data as { value: string }),
    deserialize: (text) => keyvText.deserialize(text) as never,
  });
  // What fails is thrown too; but an "error" event that nobody listens to would end the process.
  keyv.on("error", (error: unknown) => log.debug({ reason: String(error) }, "Keyv reported an error"));
  return keyv;
}
