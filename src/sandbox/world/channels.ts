import { ChannelType } from "discord-api-types/v10";
import { isGuildChannel, isThread } from "./channel-kinds.ts";
import { DiscordError, invalid } from "./discord-error.ts";
import { demand } from "./permissions.ts";
import type { DirectChannel, GuildChannel } from "./state.ts";
import { textLength } from "./text-length.ts";
import type { World } from "./world.ts";

/** The channel of two; opened once, found ever after. */
export function openDirectChannel(world: World, userId: string, otherId: string): DirectChannel {
  const other = world.user(otherId);
  if (userId === otherId) throw new DiscordError(50007);
  const known = world.directChannel([userId, other.id]);
  if (known) return known;
  return world.addChannel<DirectChannel>({
    type: ChannelType.DM,
    id: world.newId(),
    userIds: [userId, other.id],
    lastMessageId: null,
  });
}

/** Shows somebody typing where they may write. */
export function showTyping(world: World, userId: string, channelId: string): void {
  const channel = world.channel(channelId);
  demand(world, userId, channel, isThread(channel) ? "SendMessagesInThreads" : "SendMessages");
  world.startTyping(channelId, userId);
}

export interface ChannelEdit {
  readonly name?: string | undefined;
  readonly topic?: string | null | undefined;
}

export function editChannel(
  world: World,
  userId: string,
  channelId: string,
  { name, topic }: ChannelEdit,
): GuildChannel {
  const channel = world.channel(channelId);
  if (!isGuildChannel(channel)) throw new DiscordError(50024);
  demand(world, userId, channel, "ManageChannels");
  if (name !== undefined && (name === "" || textLength(name) > 100)) {
    throw invalid(["name"], "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
  }
  return world.changeChannel(channelId, {
    name: name ?? channel.name,
    topic: topic === undefined ? channel.topic : topic,
  });
}

/** Deletes a thread (Manage Threads) or a channel (Manage Channels). */
export function deleteChannel(world: World, userId: string, channelId: string): void {
  const channel = world.channel(channelId);
  if (channel.type === ChannelType.DM) throw new DiscordError(50003);
  demand(world, userId, channel, isGuildChannel(channel) ? "ManageChannels" : "ManageThreads");
  world.removeChannel(channelId);
}
