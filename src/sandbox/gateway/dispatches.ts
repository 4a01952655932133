import { ChannelType, GatewayDispatchEvents, GatewayIntentBits } from "discord-api-types/v10";
import { apiChannel, apiThread, apiThreadMember } from "../wire/api-channel.ts";
import { apiWholeGuild } from "../wire/api-guild.ts";
import { apiInteraction } from "../wire/api-interaction.ts";
import { apiGuildMember, apiMember, apiRole, apiUser } from "../wire/api-member.ts";
import { apiMessage } from "../wire/api-message.ts";
import type { Change } from "../world/change.ts";
import { canView } from "../world/permissions.ts";
import type { Channel, GuildChannel, Message } from "../world/state.ts";
import type { World } from "../world/world.ts";

/** One event as a bot gets it, and the intents of which it must have one (0: it comes in any case). */
export interface Dispatch {
  readonly event: GatewayDispatchEvents;
  readonly data: object;
  readonly intents: number;
}

const { Guilds, GuildMembers, GuildMessages, GuildMessageTyping } = GatewayIntentBits;
const { DirectMessages, DirectMessageTyping, MessageContent } = GatewayIntentBits;

/** What a bot with these intents is told of a change: nothing of places that it can't see. */
export function dispatchesOf(world: World, change: Change, botId: string, intents: number): Dispatch[] {
  const event = eventOf(world, change, botId, intents);
  return event.filter((dispatch) => dispatch.intents === 0 || (dispatch.intents & intents) !== 0);
}

function eventOf(world: World, change: Change, botId: string, intents: number): Dispatch[] {
  switch (change.type) {
    case "message-created":
    case "message-edited": {
      const { message } = change;
      const channel = world.state.channels[message.channelId];
      if (message.onlyFor || !channel || !canView(world, botId, channel)) return [];
      const isNew = change.type === "message-created";
      const event = isNew ? GatewayDispatchEvents.MessageCreate : GatewayDispatchEvents.MessageUpdate;
      const data = messageData(world, message, channel, { botId, intents, withNonce: isNew });
      return [{ event, data, intents: messageIntents(channel) }];
    }
    case "message-deleted": {
      const { message } = change;
      const channel = world.state.channels[message.channelId];
      if (message.onlyFor || !channel || !canView(world, botId, channel)) return [];
      const data = { id: message.id, channel_id: message.channelId, ...guildOf(channel) };
      return [{ event: GatewayDispatchEvents.MessageDelete, data, intents: messageIntents(channel) }];
    }
    case "messages-deleted": {
      const { channel, messages } = change;
      if (!canView(world, botId, channel)) return [];
      const data = { ids: messages.map(({ id }) => id), channel_id: channel.id, ...guildOf(channel) };
      return [{ event: GatewayDispatchEvents.MessageDeleteBulk, data, intents: messageIntents(channel) }];
    }
    case "thread-created": {
      if (!canView(world, botId, change.thread)) return [];
      const data = { ...apiThread(change.thread, botId), newly_created: true };
      return [{ event: GatewayDispatchEvents.ThreadCreate, data, intents: Guilds }];
    }
    case "thread-updated":
      if (!canView(world, botId, change.thread)) return [];
      return [{ event: GatewayDispatchEvents.ThreadUpdate, data: apiThread(change.thread, botId), intents: Guilds }];
    case "thread-deleted": {
      const { id, guildId, parentId, type } = change.thread;
      if (world.state.channels[parentId] && !canView(world, botId, change.thread)) return [];
      const data = { id, guild_id: guildId, parent_id: parentId, type };
      return [{ event: GatewayDispatchEvents.ThreadDelete, data, intents: Guilds }];
    }
    case "thread-members-changed":
      return membersChanged(world, change, botId, intents);
    case "channel-created":
    case "channel-updated":
    case "channel-deleted": {
      const event = {
        "channel-created": GatewayDispatchEvents.ChannelCreate,
        "channel-updated": GatewayDispatchEvents.ChannelUpdate,
        "channel-deleted": GatewayDispatchEvents.ChannelDelete,
      }[change.type];
      return [{ event, data: apiChannel(world, change.channel, botId), intents: Guilds }];
    }
    case "channel-in-sight":
      return [threadsInSight(world, change.channel, botId)];
    case "guild-available": {
      if (!change.guild.members[botId]) return [];
      const data = apiWholeGuild(world, world.guild(change.guild.id), botId);
      return [{ event: GatewayDispatchEvents.GuildCreate, data, intents: Guilds }];
    }
    case "guild-unavailable": {
      const data = { id: change.guild.id, unavailable: true };
      return [{ event: GatewayDispatchEvents.GuildDelete, data, intents: Guilds }];
    }
    case "guild-left":
      return [{ event: GatewayDispatchEvents.GuildDelete, data: { id: change.guild.id }, intents: Guilds }];
    case "role-created":
    case "role-updated": {
      const isNew = change.type === "role-created";
      const event = isNew ? GatewayDispatchEvents.GuildRoleCreate : GatewayDispatchEvents.GuildRoleUpdate;
      return [{ event, data: { guild_id: change.guildId, role: apiRole(change.role) }, intents: Guilds }];
    }
    case "member-joined":
    case "member-updated": {
      const { guildId, member } = change;
      const isNew = change.type === "member-joined";
      const event = isNew ? GatewayDispatchEvents.GuildMemberAdd : GatewayDispatchEvents.GuildMemberUpdate;
      // A bot is told of its own roles without any intent for members.
      const needed = member.userId === botId && !isNew ? 0 : GuildMembers;
      return [{ event, data: { guild_id: guildId, ...apiGuildMember(world, member) }, intents: needed }];
    }
    case "member-left": {
      const data = { guild_id: change.guildId, user: apiUser(world.user(change.member.userId)) };
      return [{ event: GatewayDispatchEvents.GuildMemberRemove, data, intents: GuildMembers }];
    }
    case "typing":
      return typing(world, change, botId);
    case "interaction-created": {
      const data = apiInteraction(world, change.interaction);
      return [{ event: GatewayDispatchEvents.InteractionCreate, data, intents: 0 }];
    }
    case "interaction-answered":
    case "commands-registered":
    case "typing-over":
    case "traffic":
      return [];
  }
}

function guildOf(channel: Channel): { guild_id?: string } {
  return "guildId" in channel ? { guild_id: channel.guildId } : {};
}

function messageIntents(channel: Channel): number {
  return channel.type === ChannelType.DM ? DirectMessages : GuildMessages;
}

/** A message as the gateway tells it: with its author's and the mentioned ones' memberships. */
function messageData(
  world: World,
  message: Message,
  channel: Channel,
  { botId, intents, withNonce }: { botId: string; intents: number; withNonce: boolean },
): object {
  const data = apiMessage(world, message, { id: botId, mayRead: (intents & MessageContent) !== 0 }, { withNonce });
  const guild = "guildId" in channel ? world.guild(channel.guildId) : undefined;
  const member = guild?.members[message.authorId];
  return {
    ...data,
    channel_type: channel.type,
    ...guildOf(channel),
    ...(member && { member: apiMember(member) }),
    mentions: data.mentions.map((user) => {
      const mentioned = guild?.members[user.id];
      return mentioned ? { ...user, member: apiMember(mentioned) } : user;
    }),
  };
}

/** The active threads of a channel, for a bot that has only now come to see it. */
function threadsInSight(world: World, { id, guildId }: GuildChannel, botId: string): Dispatch {
  const threads = world.threadsOf(guildId, id).filter((thread) => !thread.archived && canView(world, botId, thread));
  const data = {
    guild_id: guildId,
    channel_ids: [id],
    threads: threads.map((thread) => apiThread(thread, botId)),
    members: threads.filter(({ members }) => botId in members).map((thread) => apiThreadMember(thread, botId)),
  };
  return { event: GatewayDispatchEvents.ThreadListSync, data, intents: Guilds };
}

function membersChanged(
  world: World,
  { thread, joined, left }: Extract<Change, { type: "thread-members-changed" }>,
  botId: string,
  intents: number,
): Dispatch[] {
  const dispatches: Dispatch[] = [];
  if (joined.includes(botId)) {
    const data = apiThread(thread, botId);
    dispatches.push({ event: GatewayDispatchEvents.ThreadCreate, data, intents: Guilds });
  }
  // Whom else it concerns is told with the intent for members only.
  const isTold = (id: string) => id === botId || (intents & GuildMembers) !== 0;
  const added = joined.filter(isTold);
  const removed = left.filter(isTold);
  if (added.length + removed.length === 0) return dispatches;
  if (!canView(world, botId, thread) && !removed.includes(botId)) return dispatches;
  const data = {
    id: thread.id,
    guild_id: thread.guildId,
    member_count: Math.min(50, Object.keys(thread.members).length),
    added_members: added.map((id) => ({
      ...apiThreadMember(thread, id),
      member: apiGuildMember(world, world.member(thread.guildId, id)),
      presence: null,
    })),
    removed_member_ids: removed,
  };
  dispatches.push({ event: GatewayDispatchEvents.ThreadMembersUpdate, data, intents: Guilds });
  return dispatches;
}

function typing(world: World, { channelId, userId }: Extract<Change, { type: "typing" }>, botId: string): Dispatch[] {
  const channel = world.state.channels[channelId];
  if (!channel || !canView(world, botId, channel)) return [];
  const guildId = "guildId" in channel ? channel.guildId : undefined;
  const data = {
    channel_id: channelId,
    user_id: userId,
    timestamp: Math.floor(Date.now() / 1_000),
    ...(guildId && { guild_id: guildId, member: apiGuildMember(world, world.member(guildId, userId)) }),
  };
  const needed = guildId ? GuildMessageTyping : DirectMessageTyping;
  return [{ event: GatewayDispatchEvents.TypingStart, data, intents: needed }];
}
