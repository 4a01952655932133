import { ChannelType, OverwriteType, PermissionFlagsBits } from "discord-api-types/v10";
import { isGuildChannel, isThread } from "./channel-kinds.ts";
import { DiscordError } from "./discord-error.ts";
import type { Channel, Guild } from "./state.ts";
import type { World } from "./world.ts";

export type PermissionName = keyof typeof PermissionFlagsBits;

const { Administrator, ViewChannel, SendMessages, SendMessagesInThreads, ManageThreads } = PermissionFlagsBits;
const everything = Object.values(PermissionFlagsBits).reduce((all, bit) => all | bit, 0n);

/** Without the right to send, these mean nothing. */
const whileSending =
  PermissionFlagsBits.MentionEveryone |
  PermissionFlagsBits.SendTTSMessages |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.EmbedLinks;

/** In a DM everybody has what a DM knows. */
const inDirectMessages =
  ViewChannel | SendMessages | whileSending | PermissionFlagsBits.ReadMessageHistory | PermissionFlagsBits.AddReactions;

/** What the roles give, before any channel is looked at. */
function permissionsInGuild(guild: Guild, userId: string): bigint {
  const member = guild.members[userId];
  if (!member) return 0n;
  if (guild.ownerId === userId) return everything;
  const granted = [guild.id, ...member.roles].reduce(
    (bits, id) => bits | BigInt(guild.roles[id]?.permissions ?? 0),
    0n,
  );
  return granted & Administrator ? everything : granted;
}

/**
 * What a user may do in a channel: roles, then the channel's overwrites for everyone, for the roles and for the
 * member; a thread has its parent's. https://discord.com/developers/docs/topics/permissions
 */
export function permissionsIn(world: World, userId: string, channel: Channel): bigint {
  if (channel.type === ChannelType.DM) return channel.userIds.includes(userId) ? inDirectMessages : 0n;
  const guild = world.guild(channel.guildId);
  const base = permissionsInGuild(guild, userId);
  if (base === 0n || base === everything) return base;
  const place = isGuildChannel(channel) ? channel : world.state.channels[channel.parentId];
  if (!place || !isGuildChannel(place)) return 0n;
  const roles = guild.members[userId]?.roles ?? [];
  const ofEveryone = place.overwrites.filter(({ id }) => id === guild.id);
  const ofRoles = place.overwrites.filter(({ id, type }) => type === OverwriteType.Role && roles.includes(id));
  const ofMember = place.overwrites.filter(({ id, type }) => type === OverwriteType.Member && id === userId);
  let bits = base;
  for (const layer of [ofEveryone, ofRoles, ofMember]) {
    for (const { deny } of layer) bits &= ~BigInt(deny);
    for (const { allow } of layer) bits |= BigInt(allow);
  }
  if (!(bits & ViewChannel)) return 0n;
  return bits & (isThread(channel) ? SendMessagesInThreads : SendMessages) ? bits : bits & ~whileSending;
}

export function may(world: World, userId: string, channel: Channel, permission: PermissionName): boolean {
  return (permissionsIn(world, userId, channel) & PermissionFlagsBits[permission]) !== 0n;
}

/** A private thread is seen by its members and by those who manage threads. */
export function canView(world: World, userId: string, channel: Channel): boolean {
  const bits = permissionsIn(world, userId, channel);
  if (!(bits & ViewChannel)) return false;
  return channel.type !== ChannelType.PrivateThread || userId in channel.members || (bits & ManageThreads) !== 0n;
}

/** 50001 for a place that is not seen, 50013 for a permission that is missing (Discord doesn't say which one). */
export function demand(world: World, userId: string, channel: Channel, ...permissions: PermissionName[]): void {
  if (!canView(world, userId, channel)) throw new DiscordError(50001);
  if (!permissions.every((permission) => may(world, userId, channel, permission))) throw new DiscordError(50013);
}

/** Has all of these permissions in the server as a whole. */
export function mayInGuild(guild: Guild, userId: string, permissions: bigint): boolean {
  return (permissionsInGuild(guild, userId) & permissions) === permissions;
}
