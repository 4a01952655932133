import type { Message } from "discord.js";

/** What of a message is read to make its words readable; a real message of discord.js is one. */
export type WrittenMessage = Pick<Message, "content" | "mentions" | "guild" | "client">;

/**
 * The words of a message as a reader sees them: mentions become names, custom emoji their names. The bot's own
 * mention is left out where it only calls the bot (at the beginning or end), and is a name where it is part of the sentence.
 */
export function readableText(message: WrittenMessage, callNames: ReadonlySet<string>): string {
  const calls = [...callNames].map((name) => `${name}[\\s,:]*`).join("|");
  const atStart = new RegExp(`^(?:\\s|${calls})+`);
  const atEnd = new RegExp(`(?:\\s|${[...callNames].join("|")})+$`);
  const words = callNames.size === 0 ? message.content : message.content.replace(atStart, "").replace(atEnd, "");
  return words
    .replace(/<@!?(\d+)>/g, (raw, id: string) => named("@", userName(message, id), raw))
    .replace(/<@&(\d+)>/g, (raw, id: string) => named("@", message.guild?.roles.cache.get(id)?.name, raw))
    .replace(/<#(\d+)>/g, (raw, id: string) => named("#", message.guild?.channels.cache.get(id)?.name, raw))
    .replace(/<\/([^:>]+):\d+>/g, "/$1")
    .replace(/<a?(:\w+:)\d+>/g, "$1")
    .trim();
}

/** What nobody knows the name of stays as it was written. */
function named(sign: string, name: string | undefined, raw: string): string {
  return name === undefined ? raw : `${sign}${name}`;
}

/** How somebody is called in this server, else everywhere. */
function userName(message: WrittenMessage, id: string): string | undefined {
  const user = message.mentions.users.get(id);
  return message.guild?.members.cache.get(id)?.displayName ?? user?.displayName;
}
