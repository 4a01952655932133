import { ChannelType } from "discord-api-types/v10";
import { DiscordError } from "./discord-error.ts";
import type { Channel, GuildChannel, Thread } from "./state.ts";

export function isThread(channel: Channel): channel is Thread {
  return channel.type === ChannelType.PublicThread || channel.type === ChannelType.PrivateThread;
}

export function isGuildChannel(channel: Channel): channel is GuildChannel {
  return channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildForum;
}

/** The channel, if it is a thread; other kinds refuse what is done to threads. */
export function asThread(channel: Channel): Thread {
  if (!isThread(channel)) throw new DiscordError(50024);
  return channel;
}
