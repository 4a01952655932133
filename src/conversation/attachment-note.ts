import type { AttachmentNote } from "./inbound.ts";

const mostNamed = 10;
const longestName = 100;

/**
 * What was said, with a line about the files that came with it and can't be read yet, so that the model neither
 * overlooks nor invents them, and says so to the person.
 */
export function withAttachments(text: string, attachments: readonly AttachmentNote[]): string {
  if (attachments.length === 0) return text;
  const named = attachments.slice(0, mostNamed).map(describe);
  const more = attachments.length - named.length;
  const list = more > 0 ? [...named, `${more} more`] : named;
  const note = `[Attached to this message, but you can't open attachments: ${list.join("; ")}. Tell the person so.]`;
  return text.trim() === "" ? note : `${text}\n\n${note}`;
}

function describe({ name, mediaType, bytes }: AttachmentNote): string {
  // A file's name is its sender's choice: on one line, and bounded.
  const plain = JSON.stringify(Array.from(name).slice(0, longestName).join(""));
  return `${plain} (${mediaType ?? "unknown type"}, ${readableSize(bytes)})`;
}

function readableSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
