import type { Stored } from "./store.ts";

/**
 * How a value stands in the store: `{"value":"…"}`, which is what Keyv itself would write, so that a plain
 * `new Keyv(adapter).get(key)` reads the same string. Ours is made by `JSON.stringify`, which is several times faster,
 * and which escapes what databases mangle (NUL, lone surrogates), so that any string comes back the same.
 */
export const keyvText = {
  serialize: ({ value }: { readonly value: string }): string =>
    // Keyv takes one leading colon off every string that it reads.
    JSON.stringify({ value: value.startsWith(":") ? `:${value}` : value }),

  /**
   * An object that a plain Keyv stored comes back as JSON: a bot may have kept its sessions so.
   * @throws SyntaxError if it is not such a text
   */
  deserialize: (text: string): { value: string } => {
    const { value } = (JSON.parse(text) ?? {}) as { value?: unknown };
    if (typeof value === "object" && value !== null) return { value: JSON.stringify(value) };
    if (typeof value !== "string") throw new SyntaxError("neither a stored string nor an object");
    return { value: value.startsWith(":") ? value.slice(1) : value };
  },
};

/**
 * A stored cell, which is its own version. Other programs may have put anything there, NULL and blobs too: as a
 * version each is as good as a text.
 */
export function storedText(cell: unknown): Stored {
  const version = cell as string;
  try {
    return { value: keyvText.deserialize(version).value, version };
  } catch {
    return { value: undefined, version };
  }
}
