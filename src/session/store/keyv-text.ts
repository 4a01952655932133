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
   * The stored string. Of an object that Keyv itself wrote, as somebody stored a session before us, the JSON text.
   * @throws SyntaxError if it is neither
   */
  deserialize: (text: string): { value: string } => {
    const { value } = (JSON.parse(text) ?? {}) as { value?: unknown };
    if (typeof value === "string") return { value: withoutColon(value) };
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new SyntaxError("neither a stored string nor an object");
    }
    return { value: JSON.stringify(value, (_, each) => (typeof each === "string" ? withoutColon(each) : each)) };
  },
};

/** Keyv puts a colon before a string that begins with one; what it marks by one itself (`:base64:`) is left as it is. */
function withoutColon(value: string): string {
  return value.startsWith(":") && !value.startsWith(":base64:") ? value.slice(1) : value;
}

/**
 * A stored cell, which is its own version, and is taken apart only if its value is asked for. Other programs may have
 * put anything there, NULL and blobs too: as a version each is as good as a text.
 */
export function storedText(cell: unknown): Stored {
  const version = cell as string;
  return {
    get value() {
      try {
        return keyvText.deserialize(version).value;
      } catch {
        return undefined;
      }
    },
    version,
  };
}
