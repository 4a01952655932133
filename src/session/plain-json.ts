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
  return copy(value, { where, above: [], keys: [] }) as T;
}

/** How a value was come to. One for all levels, since a path is only wanted if something is refused. */
interface Trail {
  readonly where: string;
  readonly above: object[];
  readonly keys: (string | number)[];
}

function copy(value: unknown, trail: Trail): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value === 0 ? 0 : value;
    throw refusal(trail, String(value));
  }
  if (typeof value !== "object") throw refusal(trail, typeof value);
  if (trail.above.includes(value)) throw refusal(trail, "a cycle");
  if (trail.above.length > maxDepth) throw refusal(trail, `nested deeper than ${maxDepth}`);
  trail.above.push(value);
  const result = Array.isArray(value) ? copyList(value, trail) : copyObject(value, trail);
  trail.above.pop();
  return result;
}

function copyList(value: readonly unknown[], trail: Trail): Json[] {
  return Array.from(value, (item, index) => copyAt(index, item, trail));
}

function copyObject(value: object, trail: Trail): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw refusal(trail, value.constructor?.name ?? "an object with a prototype");
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw refusal(trail, "a symbol key");
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const child = copyAt(key, item, trail);
    // A plain assignment to "__proto__" would change the prototype instead of adding a property.
    if (key !== "__proto__") result[key] = child;
    else Object.defineProperty(result, key, { value: child, enumerable: true, configurable: true, writable: true });
  }
  return result;
}

function copyAt(key: string | number, item: unknown, trail: Trail): Json {
  trail.keys.push(key);
  const child = copy(item, trail);
  trail.keys.pop();
  return child;
}

function refusal({ where, keys }: Trail, what: string): ThreadkeeperError {
  const path = where + keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return new ThreadkeeperError("NOT_PLAIN_JSON", `${path} is not plain JSON: ${what}`, { fields: { path, what } });
}
