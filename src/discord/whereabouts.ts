import type { Channel } from "discord.js";

/**
 * Names of what a session lies in on Discord, for finding and forgetting it with them. They carry the bot's own id:
 * what becomes of a place for one bot is nothing to another one on the same store.
 */
export const guildPlace = (bot: string, guild: string): string => `${guildPlaces(bot)}${guild}`;
export const channelPlace = (bot: string, channel: string): string => `${channelPlaces(bot)}${channel}`;
/** All direct conversations. */
export const directPlace = (bot: string): string => `discord:${bot}:direct`;

/** What the names of a kind begin with; what follows is the id. */
export const guildPlaces = (bot: string): string => `discord:${bot}:guild:`;
export const channelPlaces = (bot: string): string => `discord:${bot}:channel:`;

/** Where a message or a command was given, as far as Discord tells of it. */
export interface Spot {
  readonly client: { readonly user: { readonly id: string } };
  readonly guildId: string | null;
  readonly channelId: string;
  readonly channel: Channel | null;
}

/** Everything that the session of a spot lies in: its server, and its channel (a thread's is the one above it). */
export function placesOf({ client, guildId, channelId, channel }: Spot): string[] {
  const bot = client.user.id;
  if (guildId === null) return [directPlace(bot)];
  const above = channel?.isThread() ? channel.parentId : channelId;
  return [guildPlace(bot, guildId), ...(above === null ? [] : [channelPlace(bot, above)])];
}
