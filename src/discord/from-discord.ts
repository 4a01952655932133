import { type ChatInputCommandInteraction, type Message, MessageType } from "discord.js";
import type { AttachmentNote, Inbound, InboundOf } from "../conversation/inbound.ts";
import type { Amendment } from "../conversation/memory.ts";
import { readEnclosures } from "./enclosures.ts";
import { sessionOf, toReplyTo } from "./place.ts";
import { readableText } from "./readable-text.ts";
import { placesOf } from "./whereabouts.ts";

/** Where a turn is held, which decides what has to be prepared for it. */
export type Ground =
  /** A thread is opened on the message. */
  | "new-thread"
  /** A thread of ours, or a direct conversation: the session has heard everything. */
  | "own-thread"
  | "direct"
  /** Somebody else's thread, or a channel that can't have threads: only what is said to the bot is heard. */
  | "foreign";

export type MessageInbound = InboundOf<"message">;

export type Routed =
  | { readonly inbound: MessageInbound; readonly ground: Ground }
  | { readonly ignored: "not a person's words" | "own message" | "bot" | "not said to the bot" };

/**
 * What a message means to the bot. Pure: reads the message and what is known of its channel, asks nobody.
 * @param allowedBots ids of bots (or webhooks) that are listened to like people
 */
export function fromMessage(message: Message, allowedBots: ReadonlySet<string>): Routed {
  if (message.type !== MessageType.Default && message.type !== MessageType.Reply) {
    return { ignored: "not a person's words" };
  }
  const me = message.client.user.id;
  if (message.author.id === me) return { ignored: "own message" };
  if ((message.author.bot || message.webhookId) && !allowedBots.has(message.author.id)) return { ignored: "bot" };
  const { channel } = message;
  if (channel.isDMBased()) return { inbound: toInbound(message, message.channelId), ground: "direct" };
  if (channel.isThread() && channel.ownerId === me) {
    return { inbound: toInbound(message, channel.id), ground: "own-thread" };
  }
  const called = callsBot(message);
  if (channel.isThread() || !("threads" in channel)) {
    if (!called && message.mentions.repliedUser?.id !== me) return { ignored: "not said to the bot" };
    return { inbound: toInbound(message, channel.id), ground: "foreign" };
  }
  if (!called) return { ignored: "not said to the bot" };
  // A thread that is started from a message has that message's id.
  return { inbound: toInbound(message, message.id), ground: "new-thread" };
}

/** What an edited message says now. Whether it calls the bot is not asked again: a call that was made stands. */
export function fromEdit(message: Message): Amendment {
  const { id, channelId, channel } = message;
  const isOwnPlace = channel.isDMBased() || channel.isThread();
  const { text, attachments } = toInbound(message, channelId);
  const sessionIds = [...(isOwnPlace ? [] : [sessionOf(id)]), sessionOf(channelId)];
  return { id, text, attachments, sessionIds };
}

/** What a command in a channel or thread asks of that place's session. */
export function fromCommand(
  interaction: ChatInputCommandInteraction,
  kind: "reset" | "stop" | "undo" | "fork",
  privileged: boolean,
): Inbound {
  const { member, user } = interaction;
  const nickname = member && "displayName" in member ? member.displayName : undefined;
  return {
    id: interaction.id,
    sessionId: sessionOf(interaction.channelId),
    author: { id: user.id, name: nickname ?? user.displayName },
    replyTo: toReplyTo({ channel: interaction.channelId }),
    places: placesOf(interaction),
    kind,
    privileged,
  };
}

/** A direct mention: by name or by the bot's own role. Everyone, other roles and the ping of a reply are none. */
function callsBot(message: Message): boolean {
  if (message.mentions.has(message.client.user, { ignoreEveryone: true, ignoreRoles: true, ignoreRepliedUser: true })) {
    return true;
  }
  return message.mentions.roles.some((role) => role.tags?.botId === message.client.user.id);
}

function toInbound(message: Message, thread: string): MessageInbound {
  return {
    kind: "message",
    id: message.id,
    sessionId: sessionOf(thread),
    author: { id: message.author.id, name: message.member?.displayName ?? message.author.displayName },
    text: [readableText(message, callNames(message)), ...readEnclosures(message)].filter(Boolean).join("\n"),
    attachments: message.attachments.map(
      (file): AttachmentNote => ({ name: file.name, mediaType: file.contentType ?? undefined, bytes: file.size }),
    ),
    // The message stands in its channel; `prepare` moves the answer into the thread once that is there.
    replyTo: toReplyTo({ channel: message.channelId, message: message.id }),
    places: placesOf(message),
  };
}

/** Everything that calls the bot in a message: `<@id>`, the old `<@!id>`, and the role that came with the bot. */
function callNames(message: Message): Set<string> {
  const me = message.client.user.id;
  const names = [`<@${me}>`, `<@!${me}>`];
  for (const role of message.mentions.roles.values()) if (role.tags?.botId === me) names.push(`<@&${role.id}>`);
  return new Set(names);
}
