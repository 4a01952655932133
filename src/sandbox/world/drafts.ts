import {
  type APIAllowedMentions,
  type APIEmbed,
  type APIMessageTopLevelComponent,
  ComponentType,
  EmbedType,
  MessageFlags,
} from "discord-api-types/v10";
import { DiscordError, invalid } from "./discord-error.ts";
import type { Attachment } from "./state.ts";
import { textLength } from "./text-length.ts";
import type { World } from "./world.ts";

/** A message as somebody wants it sent. */
export interface Draft {
  readonly content?: string | undefined;
  readonly embeds?: readonly APIEmbed[] | undefined;
  readonly components?: readonly APIMessageTopLevelComponent[] | undefined;
  readonly files?: readonly NewFile[] | undefined;
  readonly flags?: number | undefined;
  readonly nonce?: string | number | undefined;
  readonly enforceNonce?: boolean | undefined;
  readonly allowedMentions?: APIAllowedMentions | undefined;
  readonly replyTo?: { readonly messageId: string; readonly failIfNotExists?: boolean | undefined } | undefined;
}

export interface NewFile {
  readonly name: string;
  readonly contentType?: string | undefined;
  readonly bytes: Uint8Array;
}

/** Characters. */
const contentLimit = 2_000;
const nonceLimit = 25;

/** Refuses what Discord refuses about the parts of a message, wherever it is sent to. */
export function checkDraft(draft: Draft): void {
  const { content = "", nonce, allowedMentions } = draft;
  if (textLength(content) > contentLimit) {
    throw invalid(["content"], "BASE_TYPE_MAX_LENGTH", `Must be ${contentLimit} or fewer in length.`);
  }
  if (textLength(String(nonce ?? "")) > nonceLimit) {
    throw invalid(["nonce"], "NONCE_TYPE_TOO_LONG", `Must be ${nonceLimit} or fewer in length.`);
  }
  for (const [list, kind] of [
    ["users", "users"],
    ["roles", "roles"],
  ] as const) {
    if (allowedMentions?.[list]?.length && (allowedMentions.parse as string[] | undefined)?.includes(kind)) {
      const message = `parse:["${kind}"] and ${list}: [ids...] are mutually exclusive.`;
      throw invalid(["allowed_mentions"], "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message);
    }
  }
  checkComponents(draft.components ?? []);
}

function checkComponents(components: readonly APIMessageTopLevelComponent[]): void {
  if (components.length > 5)
    throw invalid(["components"], "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.");
  const seen = new Set<string>();
  for (const [index, row] of components.entries()) {
    if (row.type !== ComponentType.ActionRow) continue;
    const path = ["components", String(index), "components"];
    if (row.components.length < 1 || row.components.length > 5) {
      throw invalid(path, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.");
    }
    for (const [place, component] of row.components.entries()) {
      if (!("custom_id" in component)) continue;
      const field = [...path, String(place), "custom_id"];
      if (component.custom_id.length < 1 || component.custom_id.length > 100) {
        throw invalid(field, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
      }
      if (seen.has(component.custom_id)) {
        throw invalid(field, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
      }
      seen.add(component.custom_id);
    }
  }
}

/** 50006, if there is nothing to be seen. */
export function demandSomething(message: {
  readonly content?: string | undefined;
  readonly embeds?: readonly unknown[] | undefined;
  readonly components?: readonly unknown[] | undefined;
  readonly files?: readonly unknown[] | undefined;
  readonly attachments?: readonly unknown[] | undefined;
}): void {
  const { content, embeds, components, files, attachments } = message;
  if (!content?.trim() && ![embeds, components, files, attachments].some((list) => list?.length)) {
    throw new DiscordError(50006);
  }
}

export function keepFiles(world: World, files: readonly NewFile[] = []): Attachment[] {
  return files.map(({ name, contentType, bytes }) => ({
    id: world.newId(),
    name,
    ...(contentType && { contentType }),
    size: bytes.byteLength,
    base64: Buffer.from(bytes).toString("base64"),
  }));
}

/** The previews that Discord would fetch; nothing is fetched here. A link in `<…>` has none. */
export function previewsOf(content: string, flags: number): APIEmbed[] {
  if (flags & MessageFlags.SuppressEmbeds) return [];
  const links = [...content.matchAll(/(?<!<)https?:\/\/[^\s<>)]+/g)].map(([url]) => url);
  return [...new Set(links)].slice(0, 5).map((url) => ({ type: EmbedType.Link, url, title: url }));
}
