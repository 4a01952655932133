import {
  type APIAttachment,
  type APIMessage,
  type APIMessageReference,
  ChannelType,
  InteractionType,
  MessageFlags,
  MessageReferenceType,
  MessageType,
} from "discord-api-types/v10";
import { attachmentLink } from "../attachment-links.ts";
import { isThread } from "../world/channel-kinds.ts";
import type { Attachment, Message } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { apiThread } from "./api-channel.ts";
import { apiUser } from "./api-member.ts";

// Where Discord leaves a field out, it must be absent here too: `thread: null` crashes discord.js.

/** Who gets to see a message. */
export interface Viewer {
  readonly id: string;
  /** Has the MessageContent intent. Without it words are seen only in DMs, in one's own and where one is mentioned. */
  readonly mayRead: boolean;
}

/** The nonce is told when a message is sent, and never again. */
export function apiMessage(world: World, message: Message, viewer: Viewer, { withNonce = false } = {}): APIMessage {
  return { ...plainMessage(world, message, viewer, { withNonce }), ...referencedMessage(world, message, viewer) };
}

/** Without the message that it answers: such references are one deep. */
function plainMessage(
  world: World,
  message: Message,
  viewer: Viewer,
  { withNonce }: { withNonce: boolean },
): APIMessage {
  const thread = world.state.channels[message.id];
  const carriesThread = thread && isThread(thread) && thread.id !== message.channelId;
  const { interaction } = message;
  const isReadable =
    viewer.mayRead ||
    message.authorId === viewer.id ||
    message.mentions.users.includes(viewer.id) ||
    world.state.channels[message.channelId]?.type === ChannelType.DM;
  return {
    id: message.id,
    channel_id: message.channelId,
    author: apiUser(world.user(message.authorId)),
    type: message.type,
    content: isReadable ? message.content : "",
    timestamp: message.createdAt,
    edited_timestamp: message.editedAt,
    flags: message.flags | (carriesThread ? MessageFlags.HasThread : 0),
    tts: false,
    pinned: false,
    mention_everyone: message.mentions.everyone,
    mentions: message.mentions.users.map((id) => apiUser(world.user(id))),
    mention_roles: [...message.mentions.roles],
    attachments: isReadable ? message.attachments.map((attachment) => apiAttachment(world, message, attachment)) : [],
    embeds: isReadable ? [...message.embeds] : [],
    components: isReadable ? [...message.components] : [],
    ...(withNonce && message.nonce !== undefined && { nonce: message.nonce }),
    ...(message.reference && { message_reference: apiReference(world, message) }),
    ...(carriesThread && { thread: apiThread(thread, viewer.id) }),
    ...(interaction && {
      application_id: world.state.botId,
      webhook_id: world.state.botId,
      interaction_metadata: {
        id: interaction.id,
        type: interaction.command ? InteractionType.ApplicationCommand : InteractionType.MessageComponent,
        user: apiUser(world.user(interaction.userId)),
        authorizing_integration_owners: {},
      },
    }),
  } as APIMessage;
}

function apiReference(world: World, { channelId, reference }: Message): APIMessageReference {
  const channel = world.state.channels[channelId];
  return {
    type: MessageReferenceType.Default,
    channel_id: reference?.channelId ?? channelId,
    ...(reference?.messageId && { message_id: reference.messageId }),
    ...(channel && "guildId" in channel && { guild_id: channel.guildId }),
  };
}

/** `null` says that the message replied to has been deleted; other references carry nothing. */
function referencedMessage(world: World, message: Message, viewer: Viewer): { referenced_message?: APIMessage | null } {
  const { type, reference } = message;
  if (!reference?.messageId || (type !== MessageType.Reply && type !== MessageType.ThreadStarterMessage)) return {};
  const found = world.findMessage(reference.channelId, reference.messageId);
  return { referenced_message: found ? plainMessage(world, found, viewer, { withNonce: false }) : null };
}

function apiAttachment(world: World, { channelId }: Message, attachment: Attachment): APIAttachment {
  const { id, name, contentType, size } = attachment;
  const url = attachmentLink(world, channelId, attachment);
  return { id, filename: name, size, url, proxy_url: url, ...(contentType && { content_type: contentType }) };
}
