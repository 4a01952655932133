/** An object as it came over the wire or out of a file: what is in it has still to be looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a table holds under a key that somebody sent us: `constructor` and its like are in none. */
export function own<Held>(table: Readonly<Record<string, Held>>, key: string): Held | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
