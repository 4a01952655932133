import { ThreadkeeperError } from "../errors.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

const maxDepth = 200;

/**
 * A copy of plain JSON. Refuses what would come back from a store changed, or not at all: `undefined`, holes, NaN,
 * dates, maps, buffers, functions, symbols and cycles stay out at the door, and the error names the path.
 *
 * Properties that are `undefined` are allowed and dropped, as `JSON.stringify` does, since typed objects have them;
 * -0 becomes 0.
 * @throws ThreadkeeperError `NOT_PLAIN_JSON`
 */
export function plainJson<T>(value: T, where: string): T {
  return copy(value, where, [], 0) as T;
}

function copy(value: unknown, path: string, above: readonly object[], depth: number): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value === 0 ? 0 : value;
    throw refusal(path, String(value));
  }
  if (typeof value !== "object") throw refusal(path, typeof value);
  if (above.includes(value)) throw refusal(path, "a cycle");
  if (depth > maxDepth) throw refusal(path, `nested deeper than ${maxDepth}`);
  const inside = [...above, value];
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => copy(item, `${path}[${index}]`, inside, depth + 1));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw refusal(path, value.constructor?.name ?? "an object with a prototype");
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw refusal(path, "a symbol key");
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const child = copy(item, `${path}.${key}`, inside, depth + 1);
    // A plain assignment to "__proto__" would change the prototype instead of adding a property.
    Object.defineProperty(result, key, { value: child, enumerable: true, configurable: true, writable: true });
  }
  return result;
}

function refusal(path: string, what: string): ThreadkeeperError {
  return new ThreadkeeperError("NOT_PLAIN_JSON", `${path} is not plain JSON: ${what}`, { fields: { path, what } });
}
