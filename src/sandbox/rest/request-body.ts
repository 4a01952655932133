import type { Context } from "hono";
import { isJsonObject, type JsonObject } from "../json-object.ts";
import { DiscordError, invalid } from "../world/discord-error.ts";
import type { NewFile } from "../world/drafts.ts";

export interface RequestBody {
  readonly json: JsonObject;
  readonly files: readonly NewFile[];
}

/** The body of a request: JSON, or a form with files and the JSON in `payload_json`. */
export async function readBody(context: Context): Promise<RequestBody> {
  if (!context.req.header("content-type")?.startsWith("multipart/form-data")) {
    const text = await context.req.text();
    return { json: dictionary(parse(text === "" ? "{}" : text)), files: [] };
  }
  const form = await context.req.formData().catch(() => {
    throw invalid([], "CONTENT_TYPE_INVALID", "The body is not the form that its Content-Type says.");
  });
  const files: NewFile[] = [];
  for (const value of form.values()) {
    if (typeof value === "string") continue;
    const bytes = new Uint8Array(await value.arrayBuffer());
    files.push({ name: value.name, contentType: value.type || undefined, bytes });
  }
  const payload = form.get("payload_json");
  return { json: dictionary(parse(typeof payload === "string" ? payload : "{}")), files };
}

/** A body that is a list, as only a few routes have it. */
export async function readList(context: Context): Promise<readonly unknown[]> {
  const value = parse(await context.req.text());
  if (!Array.isArray(value)) throw invalid([], "LIST_TYPE_CONVERT", "Must be a list.");
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DiscordError(50109);
  }
}

/** An object, wherever `path` leads to; 50035 if it is anything else. */
export function dictionary(value: unknown, path: readonly string[] = []): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
}

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
}

/** One field, `undefined` if it is left out or null; 50035 if it is of another kind. `path` leads to its object. */
export function field<Kind extends keyof Kinds>(
  json: JsonObject,
  name: string,
  kind: Kind,
  path: readonly string[] = [],
): Kinds[Kind] | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== kind) throw invalid([...path, name], "BASE_TYPE_CONVERT", `Must be a ${kind}.`);
  return value as Kinds[Kind];
}

export function requiredText(json: JsonObject, name: string): string {
  const value = field(json, name, "string");
  if (value === undefined) throw invalid([name], "BASE_TYPE_REQUIRED", "This field is required");
  return value;
}

/** An object in a field, `undefined` if it is left out or null. */
export function part(json: JsonObject, name: string, path: readonly string[] = []): JsonObject | undefined {
  return json[name] === undefined || json[name] === null ? undefined : dictionary(json[name], [...path, name]);
}

/** A list of objects, `undefined` if it is left out or null. */
export function parts(json: JsonObject, name: string, path: readonly string[] = []): JsonObject[] | undefined {
  return list(json, name, path)?.map((value, index) => dictionary(value, [...path, name, String(index)]));
}

/** A list of ids or names, `undefined` if it is left out or null. */
export function texts(json: JsonObject, name: string, path: readonly string[] = []): string[] | undefined {
  return list(json, name, path)?.map((value, index) => {
    if (typeof value === "string") return value;
    throw invalid([...path, name, String(index)], "BASE_TYPE_CONVERT", "Must be a string.");
  });
}

function list(json: JsonObject, name: string, path: readonly string[]): unknown[] | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid([...path, name], "LIST_TYPE_CONVERT", "Must be a list.");
  return value;
}
