import type { Json, JsonObject } from "./plain-json.ts";

/** Where in an event a text stands that has a key of its own in the store, and how large it is there. */
export interface LargeValue {
  readonly path: readonly (string | number)[];
  readonly bytes: number;
}

/** Texts with more bytes than this stand apart, so that a window can be chosen without reading them. */
export const largeBytes = 16_384;

/** What stands in their place. Not empty, since some fields may not be. */
const placeholder = "…";

/** Whether a text has so many bytes or less; of most it need not be counted, since none has more than three for each unit. */
export function hasAtMost(bytes: number, text: string): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}

/** The value without its large texts, and these in the order of `large`. */
export function takeOut<T>(value: T): { value: T; large: LargeValue[]; texts: string[] } {
  const large: LargeValue[] = [];
  const texts: string[] = [];
  const visit = (inner: Json, path: readonly (string | number)[]): Json => {
    if (typeof inner === "string") {
      if (hasAtMost(largeBytes, inner)) return inner;
      large.push({ path, bytes: Buffer.byteLength(inner) });
      texts.push(inner);
      return placeholder;
    }
    if (typeof inner !== "object" || inner === null) return inner;
    if (isList(inner)) return inner.map((each, index) => visit(each, [...path, index]));
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, visit(each, [...path, key])]));
  };
  return { value: visit(value as Json, []) as T, large, texts };
}

/** The whole value again; `undefined` if it has no such places. */
export function putBack<T>(value: T, large: readonly LargeValue[], texts: readonly string[]): T | undefined {
  let whole = value as Json | undefined;
  for (const [index, { path }] of large.entries()) {
    if (whole !== undefined) whole = replaced(whole, path, texts[index] as string);
  }
  return whole as T | undefined;
}

function replaced(value: Json, [key, ...rest]: readonly (string | number)[], text: string): Json | undefined {
  if (key === undefined) return value === placeholder ? text : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const inner = replaced((value as JsonObject)[key] as Json, rest, text);
  if (inner === undefined) return undefined;
  return isList(value) ? value.with(key as number, inner) : { ...value, [key]: inner };
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
