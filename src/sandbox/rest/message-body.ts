import {
  type APIAllowedMentions,
  type APIEmbed,
  type APIMessageTopLevelComponent,
  ComponentType,
} from "discord-api-types/v10";
import type { JsonObject } from "../json-object.ts";
import { invalid } from "../world/discord-error.ts";
import type { Draft } from "../world/drafts.ts";
import type { Edit } from "../world/editing.ts";
import { field, part, parts, type RequestBody, texts } from "./request-body.ts";

// What the sandbox itself reads of a message is checked here; the rest of an embed or a component is kept as it comes.

/** A message to send, as it stands in a request. */
export function readDraft({ json, files }: RequestBody): Draft {
  const reference = part(json, "message_reference") ?? {};
  const messageId = field(reference, "message_id", "string", ["message_reference"]);
  const failIfNotExists = field(reference, "fail_if_not_exists", "boolean", ["message_reference"]);
  const nonce = json["nonce"];
  return {
    ...readParts({ json, files }),
    content: field(json, "content", "string"),
    nonce: typeof nonce === "string" || typeof nonce === "number" ? nonce : undefined,
    enforceNonce: field(json, "enforce_nonce", "boolean"),
    replyTo: messageId ? { messageId, failIfNotExists } : undefined,
  };
}

/** What is to be changed of a message. */
export function readEdit({ json, files }: RequestBody): Edit {
  // New files are named by their place in the form, those that stay by their id.
  const attachments = parts(json, "attachments");
  return {
    ...readParts({ json, files }),
    files: files.length > 0 ? files : undefined,
    content: json["content"] === null ? null : field(json, "content", "string"),
    keep: attachments?.flatMap(({ id }) => (typeof id === "string" || typeof id === "number" ? String(id) : [])),
  };
}

function readParts({
  json,
  files,
}: RequestBody): Pick<Draft, "embeds" | "components" | "files" | "flags" | "allowedMentions"> {
  return {
    embeds: readEmbeds(json),
    components: readComponents(json),
    files,
    flags: field(json, "flags", "number"),
    allowedMentions: readAllowedMentions(json),
  };
}

function readEmbeds(json: JsonObject): APIEmbed[] | undefined {
  const embeds = parts(json, "embeds");
  for (const [index, embed] of (embeds ?? []).entries()) {
    for (const name of ["type", "title", "url"]) field(embed, name, "string", ["embeds", String(index)]);
  }
  return embeds as APIEmbed[] | undefined;
}

function readComponents(json: JsonObject): APIMessageTopLevelComponent[] | undefined {
  const rows = parts(json, "components");
  for (const [index, row] of (rows ?? []).entries()) {
    const path = ["components", String(index)];
    if (field(row, "type", "number", path) !== ComponentType.ActionRow) continue;
    const inRow = parts(row, "components", path);
    if (!inRow) throw invalid([...path, "components"], "BASE_TYPE_REQUIRED", "This field is required");
    for (const [place, component] of inRow.entries()) checkComponent(component, [...path, "components", String(place)]);
  }
  return rows as unknown as APIMessageTopLevelComponent[] | undefined;
}

function checkComponent(component: JsonObject, path: readonly string[]): void {
  for (const name of ["type", "style"]) field(component, name, "number", path);
  field(component, "label", "string", path);
  field(component, "disabled", "boolean", path);
  if ("custom_id" in component && field(component, "custom_id", "string", path) === undefined) {
    throw invalid([...path, "custom_id"], "BASE_TYPE_REQUIRED", "This field is required");
  }
}

function readAllowedMentions(json: JsonObject): APIAllowedMentions | undefined {
  const path = ["allowed_mentions"];
  const allowed = part(json, "allowed_mentions");
  return (
    allowed &&
    ({
      parse: texts(allowed, "parse", path) as APIAllowedMentions["parse"] | undefined,
      roles: texts(allowed, "roles", path),
      users: texts(allowed, "users", path),
      replied_user: field(allowed, "replied_user", "boolean", path),
    } as APIAllowedMentions)
  );
}
