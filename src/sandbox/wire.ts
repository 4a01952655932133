// Over 250 lines: it is one thing, our records as Discord's JSON, and each shape holds others of them.
import {
  type APIApplication,
  type APIAttachment,
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  type APIMessage,
  type APIMessageReference,
  type APIRole,
  type APIThreadMember,
  type APIUser,
  ApplicationFlags,
  ChannelType,
  type GatewayGuildCreateDispatchData,
  InteractionType,
  MessageFlags,
  MessageReferenceType,
  MessageType,
  type RoleFlags,
  type ThreadMemberFlags,
} from "discord-api-types/v10";
import { attachmentLink } from "./attachment-links.ts";
import { canView } from "./world/permissions.ts";
import type { Attachment, Channel, Guild, Member, Message, Role, Thread, User } from "./world/state.ts";
import { isThread, type World } from "./world/world.ts";

// Where Discord leaves a field out, it must be absent here too: `thread: null` crashes discord.js.

export function apiUser(user: User): APIUser {
  return {
    id: user.id,
    username: user.name.toLowerCase().replaceAll(/[^a-z0-9_.]+/g, "_"),
    discriminator: "0",
    global_name: user.bot ? null : user.name,
    avatar: null,
    ...(user.bot && { bot: true, username: user.name, discriminator: "0001" }),
  };
}

export function apiMember(member: Member): Omit<APIGuildMember, "user"> {
  return {
    nick: member.nick,
    roles: [...member.roles],
    joined_at: member.joinedAt,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: 0,
    avatar: null,
    banner: null,
  } as unknown as Omit<APIGuildMember, "user">;
}

export function apiGuildMember(world: World, member: Member): APIGuildMember {
  return { ...apiMember(member), user: apiUser(world.user(member.userId)) };
}

export function apiRole(role: Role): APIRole {
  return {
    id: role.id,
    name: role.name,
    permissions: role.permissions,
    position: role.position,
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    managed: role.botId !== undefined,
    mentionable: role.mentionable,
    flags: 0 as RoleFlags,
    ...(role.botId && { tags: { bot_id: role.botId } }),
  };
}

/** A channel as `viewerId` gets it: of a thread one is told whether one is in it. */
export function apiChannel(world: World, channel: Channel, viewerId: string): APIChannel {
  if (isThread(channel)) return apiThread(channel, viewerId);
  if (channel.type === ChannelType.DM) {
    return {
      id: channel.id,
      type: ChannelType.DM,
      flags: 0,
      last_message_id: channel.lastMessageId,
      recipients: channel.userIds.filter((id) => id !== viewerId).map((id) => apiUser(world.user(id))),
    } as unknown as APIChannel;
  }
  return {
    id: channel.id,
    type: channel.type,
    guild_id: channel.guildId,
    name: channel.name,
    topic: channel.topic,
    position: channel.position,
    parent_id: null,
    nsfw: false,
    rate_limit_per_user: 0,
    permission_overwrites: [...channel.overwrites],
    last_message_id: channel.lastMessageId,
    flags: 0,
    ...(channel.type === ChannelType.GuildForum && {
      available_tags: [],
      default_reaction_emoji: null,
      default_sort_order: null,
      default_forum_layout: 0,
    }),
  } as unknown as APIChannel;
}

export function apiThread(thread: Thread, viewerId: string): APIChannel {
  return {
    id: thread.id,
    type: thread.type,
    guild_id: thread.guildId,
    parent_id: thread.parentId,
    name: thread.name,
    owner_id: thread.ownerId,
    last_message_id: thread.lastMessageId,
    message_count: thread.messageCount,
    total_message_sent: thread.totalSent,
    member_count: Math.min(50, Object.keys(thread.members).length),
    rate_limit_per_user: 0,
    flags: 0,
    thread_metadata: {
      archived: thread.archived,
      locked: thread.locked,
      auto_archive_duration: thread.autoArchive,
      archive_timestamp: thread.archiveChangedAt,
      create_timestamp: thread.createdAt,
      ...(thread.type === ChannelType.PrivateThread && { invitable: thread.invitable }),
    },
    ...(viewerId in thread.members && { member: apiThreadMember(thread, viewerId) }),
  } as unknown as APIChannel;
}

export function apiThreadMember(thread: Thread, userId: string): APIThreadMember {
  return {
    id: thread.id,
    user_id: userId,
    join_timestamp: thread.members[userId] ?? thread.createdAt,
    flags: 0 as ThreadMemberFlags,
  };
}

export function apiGuild(guild: Guild): APIGuild {
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    icon: null,
    splash: null,
    discovery_splash: null,
    banner: null,
    description: null,
    vanity_url_code: null,
    region: "",
    afk_channel_id: null,
    afk_timeout: 300,
    system_channel_id: null,
    system_channel_flags: 0,
    rules_channel_id: null,
    public_updates_channel_id: null,
    safety_alerts_channel_id: null,
    application_id: null,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    nsfw_level: 0,
    premium_tier: 0,
    premium_progress_bar_enabled: false,
    preferred_locale: "en-US",
    hub_type: null,
    incidents_data: null,
    features: [],
    emojis: [],
    stickers: [],
    roles: Object.values(guild.roles).map(apiRole),
  } as unknown as APIGuild;
}

/** GUILD_CREATE: the server with all its channels, and with the active threads that the viewer sees. */
export function apiWholeGuild(world: World, guild: Guild, viewerId: string): GatewayGuildCreateDispatchData {
  const threads = world.threadsOf(guild.id).filter((thread) => !thread.archived && canView(world, viewerId, thread));
  const members = Object.values(guild.members);
  return {
    ...apiGuild(guild),
    joined_at: guild.members[viewerId]?.joinedAt ?? "",
    large: false,
    unavailable: false,
    member_count: members.length,
    members: members.map((member) => apiGuildMember(world, member)),
    channels: world.channelsOf(guild.id).map((channel) => apiChannel(world, channel, viewerId)),
    threads: threads.map((thread) => apiThread(thread, viewerId)),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  } as unknown as GatewayGuildCreateDispatchData;
}

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

/** The bot's application; its flags say whether it may read what is written. */
export function apiApplication(world: World, mayReadContent: boolean): APIApplication {
  return {
    id: world.state.botId,
    name: world.bot.name,
    icon: null,
    description: "",
    bot_public: true,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    flags: mayReadContent ? ApplicationFlags.GatewayMessageContentLimited : 0,
    team: null,
    bot: apiUser(world.bot),
    integration_types_config: { "0": {} },
  } as unknown as APIApplication;
}
