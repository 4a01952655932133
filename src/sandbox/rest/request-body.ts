import type { APIAllowedMentions, APIEmbed, APIMessageTopLevelComponent } from "discord-api-types/v10";
import type { Context } from "hono";
import { DiscordError, invalid } from "../world/discord-error.ts";
import type { Draft, NewFile } from "../world/drafts.ts";
import type { Edit } from "../world/editing.ts";

export interface RequestBody {
  readonly json: Readonly<Record<string, unknown>>;
  readonly files: readonly NewFile[];
}

/** The body of a request: JSON, or a form with files and the JSON in `payload_json`. */
export async function readBody(context: Context): Promise<RequestBody> {
  if (!context.req.header("content-type")?.startsWith("multipart/form-data")) {
    const text = await context.req.text();
    return { json: parse(text === "" ? "{}" : text), files: [] };
  }
  const form = await context.req.formData();
  const files: NewFile[] = [];
  for (const value of form.values()) {
    if (typeof value === "string") continue;
    const bytes = new Uint8Array(await value.arrayBuffer());
    files.push({ name: value.name, contentType: value.type || undefined, bytes });
  }
  const payload = form.get("payload_json");
  return { json: parse(typeof payload === "string" ? payload : "{}"), files };
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DiscordError(50109);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([], "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
  }
  return value as Record<string, unknown>;
}

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
}

/** One field, `undefined` if it is left out or null; 50035 if it is of another kind. */
export function field<Kind extends keyof Kinds>(
  json: RequestBody["json"],
  name: string,
  kind: Kind,
): Kinds[Kind] | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== kind) throw invalid([name], "BASE_TYPE_CONVERT", `Must be a ${kind}.`);
  return value as Kinds[Kind];
}

export function requiredText(json: RequestBody["json"], name: string): string {
  const value = field(json, name, "string");
  if (value === undefined) throw invalid([name], "BASE_TYPE_REQUIRED", "This field is required");
  return value;
}

/** A list, `undefined` if it is left out. Its elements are taken as they come: what they hold is checked by its use. */
export function list<Element>(json: RequestBody["json"], name: string): Element[] | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid([name], "LIST_TYPE_CONVERT", "Must be a list.");
  return value;
}

export function readDraft({ json, files }: RequestBody): Draft {
  const reference = json["message_reference"] as { message_id?: string; fail_if_not_exists?: boolean } | undefined;
  const nonce = json["nonce"];
  return {
    ...readParts({ json, files }),
    content: field(json, "content", "string"),
    nonce: typeof nonce === "string" || typeof nonce === "number" ? nonce : undefined,
    enforceNonce: field(json, "enforce_nonce", "boolean"),
    replyTo: reference?.message_id
      ? { messageId: reference.message_id, failIfNotExists: reference.fail_if_not_exists }
      : undefined,
  };
}

export function readEdit({ json, files }: RequestBody): Edit {
  // New files are named by their place in the form, those that stay by their id.
  const attachments = list<{ id: string | number }>(json, "attachments");
  return {
    ...readParts({ json, files }),
    files: files.length > 0 ? files : undefined,
    content: json["content"] === null ? null : field(json, "content", "string"),
    keep: attachments?.map(({ id }) => String(id)),
  };
}

function readParts({
  json,
  files,
}: RequestBody): Pick<Draft, "embeds" | "components" | "files" | "flags" | "allowedMentions"> {
  return {
    embeds: list<APIEmbed>(json, "embeds"),
    components: list<APIMessageTopLevelComponent>(json, "components"),
    files,
    flags: field(json, "flags", "number"),
    allowedMentions: (json["allowed_mentions"] as APIAllowedMentions | null | undefined) ?? undefined,
  };
}
