import {
  type APIChannel,
  type APIDMChannel,
  type APIGuildForumChannel,
  type APIPrivateThreadChannel,
  type APIPublicThreadChannel,
  type APITextChannel,
  type APIThreadMember,
  type ChannelFlags,
  ChannelType,
  ForumLayoutType,
  type ThreadMemberFlags,
} from "discord-api-types/v10";
import { isThread } from "../world/channel-kinds.ts";
import type { Channel, DirectChannel, GuildChannel, Thread } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { apiUser } from "./api-member.ts";

// Where Discord leaves a field out, it must be absent here too: `thread: null` crashes discord.js.

const noFlags = 0 as ChannelFlags;

/** A channel as `viewerId` gets it: of a thread one is told whether one is in it, of a DM with whom it is. */
export function apiChannel(world: World, channel: Channel, viewerId: string): APIChannel {
  if (isThread(channel)) return apiThread(channel, viewerId);
  return channel.type === ChannelType.DM ? apiDirectChannel(world, channel, viewerId) : apiGuildChannel(channel);
}

function apiDirectChannel(world: World, channel: DirectChannel, viewerId: string): APIDMChannel {
  return {
    id: channel.id,
    type: ChannelType.DM,
    name: null,
    flags: noFlags,
    last_message_id: channel.lastMessageId,
    recipients: channel.userIds.filter((id) => id !== viewerId).map((id) => apiUser(world.user(id))),
  };
}

export function apiGuildChannel(channel: GuildChannel): APITextChannel | APIGuildForumChannel {
  const shared = {
    id: channel.id,
    guild_id: channel.guildId,
    name: channel.name,
    topic: channel.topic,
    position: channel.position,
    parent_id: null,
    nsfw: false,
    rate_limit_per_user: 0,
    permission_overwrites: [...channel.overwrites],
    last_message_id: channel.lastMessageId,
    flags: noFlags,
  };
  if (channel.type === ChannelType.GuildText) return { ...shared, type: ChannelType.GuildText };
  return {
    ...shared,
    type: ChannelType.GuildForum,
    available_tags: [],
    default_reaction_emoji: null,
    default_sort_order: null,
    default_forum_layout: ForumLayoutType.NotSet,
  };
}

export function apiThread(thread: Thread, viewerId: string): APIPublicThreadChannel | APIPrivateThreadChannel {
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
    flags: noFlags,
    thread_metadata: {
      archived: thread.archived,
      locked: thread.locked,
      auto_archive_duration: thread.autoArchive,
      archive_timestamp: thread.archiveChangedAt,
      create_timestamp: thread.createdAt,
      ...(thread.type === ChannelType.PrivateThread && { invitable: thread.invitable }),
    },
    ...(viewerId in thread.members && { member: apiThreadMember(thread, viewerId) }),
  };
}

export function apiThreadMember(thread: Thread, userId: string): APIThreadMember {
  return {
    id: thread.id,
    user_id: userId,
    join_timestamp: thread.members[userId] ?? thread.createdAt,
    flags: 0 as ThreadMemberFlags,
  };
}
