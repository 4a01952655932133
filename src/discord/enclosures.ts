import type { Message } from "discord.js";
import { readableText } from "./readable-text.ts";

/**
 * What a message says otherwise than in words, as notes that stand for it: stickers, a poll, a forwarded message. Files
 * are not among them.
 */
export function readEnclosures(message: Message): string[] {
  const { stickers, poll, messageSnapshots } = message;
  const notes = stickers.map(({ name }) => `[sticker: ${name}]`);
  if (poll) {
    const answers = poll.answers.map(({ text }) => text);
    notes.push(`[poll: ${[poll.question.text, ...answers].filter(Boolean).join(" | ")}]`);
  }
  for (const snapshot of messageSnapshots.values()) {
    const { mentions, guild, client } = message;
    const words = readableText({ content: snapshot.content ?? "", mentions, guild, client }, new Set());
    notes.push(["[forwarded message]", words, ...fileNotes(snapshot)].filter(Boolean).join("\n"));
  }
  return notes;
}

export function fileNotes({ attachments }: Pick<Message, "attachments">): string[] {
  return attachments.map(({ name }) => `[file: ${name}]`);
}
