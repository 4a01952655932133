import { type Message, MessageType } from "discord.js";
import { noticeWording } from "../reply/wording.ts";

/** How many messages are named; a turn rarely answers more than one. */
const mostNamed = 10;
const undone = noticeWording({ type: "notice", reason: "undone", inputs: [], replyTo: null });

/** Links to the messages whose turn was undone, which ping nobody. @param spot where they stand */
export function linksTo(inputs: readonly string[], spot: UndoSpot): string {
  return inputs
    .slice(0, mostNamed)
    .map((id) => `-# https://discord.com/channels/${spot.guild ?? "@me"}/${channelOf(id, spot)}/${id}`)
    .join("\n");
}

export interface UndoSpot {
  readonly guild: string | null;
  readonly channel: string;
  /** The channel above it, if messages that opened it stand there. */
  readonly above: string | null;
}

/** The message that a thread was opened on has the thread's id, and stands above it. */
function channelOf(message: string, { channel, above }: UndoSpot): string {
  return message === channel && above !== null ? above : channel;
}

/** The messages that an answer to /undo names; none, if it is no such answer. They must not come back as context. */
export function undoneBy({ type, author, client, content }: Message): string[] {
  if (type !== MessageType.ChatInputCommand || author.id !== client.user.id || !content.startsWith(undone)) return [];
  return Array.from(content.matchAll(/^-# \S+\/(\d+)$/gm), ([, id = ""]) => id);
}
