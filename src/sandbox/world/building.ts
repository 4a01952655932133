import { ChannelType, PermissionFlagsBits } from "discord-api-types/v10";
import type { PermissionName } from "./permissions.ts";
import { botRole, type Guild, type GuildChannel, newGuild, newMember, type Role, type User } from "./state.ts";
import type { World } from "./world.ts";

/** Where something is made; default: the first server. */
export interface InGuild {
  readonly guild?: { readonly id: string };
}

export interface RoleOptions extends InGuild {
  readonly permissions?: readonly PermissionName[];
  readonly mentionable?: boolean;
}

export interface MemberOptions extends InGuild {
  /** Roles by name; those that don't exist are made. */
  readonly roles?: readonly string[];
  /** What this member may do beyond everybody. */
  readonly permissions?: readonly PermissionName[];
  readonly bot?: boolean;
}

function guildOf(world: World, { guild }: InGuild): Guild {
  const found = guild ? world.guild(guild.id) : Object.values(world.state.guilds)[0];
  if (!found) throw new Error("the sandbox has no server");
  return found;
}

/** A server with a channel #general, of which the bot is a member with a role of its own. */
export function createGuild(world: World, name: string, ownerId: string): Guild {
  const role = botRole(world.newId(), world.bot, 1);
  const blank = newGuild(world.newId(), name, ownerId);
  const guild = world.addGuild({
    ...blank,
    roles: { ...blank.roles, [role.id]: role },
    members: { [ownerId]: newMember(ownerId), [world.bot.id]: newMember(world.bot.id, [role.id]) },
  });
  createGuildChannel(world, "general", ChannelType.GuildText, { guild });
  return guild;
}

export function createGuildChannel(
  world: World,
  name: string,
  type: GuildChannel["type"],
  place: InGuild,
): GuildChannel {
  const guild = guildOf(world, place);
  return world.addChannel<GuildChannel>({
    type,
    id: world.newId(),
    guildId: guild.id,
    name,
    topic: null,
    position: world.channelsOf(guild.id).length,
    overwrites: [],
    lastMessageId: null,
  });
}

export function createRole(world: World, name: string, options: RoleOptions): Role {
  const guild = guildOf(world, options);
  return world.putRole(guild.id, {
    id: world.newId(),
    name,
    permissions: bitsOf(options.permissions ?? []),
    position: Object.keys(guild.roles).length,
    mentionable: options.mentionable ?? false,
  });
}

/** Gives a role other permissions; what is left out stays. */
export function changeRole(world: World, id: string, options: Omit<RoleOptions, "guild">): Role {
  const guild = Object.values(world.state.guilds).find(({ roles }) => roles[id]);
  const role = guild?.roles[id];
  if (!guild || !role) throw new Error(`there is no role ${id}`);
  const { permissions, mentionable = role.mentionable } = options;
  return world.putRole(guild.id, {
    ...role,
    mentionable,
    permissions: permissions ? bitsOf(permissions) : role.permissions,
  });
}

function bitsOf(permissions: readonly PermissionName[]): string {
  return String(permissions.reduce((all, permission) => all | PermissionFlagsBits[permission], 0n));
}

/** The user of this name, made if need be, as a member of the server with these roles. */
export function joinAs(world: World, name: string, options: MemberOptions): User {
  const guild = guildOf(world, options);
  const user = world.userByName(name) ?? world.putUser({ id: world.newId(), name, bot: options.bot ?? false });
  const member = guild.members[user.id] ?? world.putMember(guild.id, newMember(user.id));
  const wanted = (options.roles ?? []).map((role) => roleByName(world, guild.id, role).id);
  if (options.permissions) {
    wanted.push(createRole(world, `${name}'s own`, { guild, permissions: options.permissions }).id);
  }
  const missing = wanted.filter((id) => !member.roles.includes(id));
  if (missing.length > 0) world.putMember(guild.id, { ...member, roles: [...member.roles, ...missing] });
  return user;
}

function roleByName(world: World, guildId: string, name: string): Role {
  const known = Object.values(world.guild(guildId).roles).find((role) => role.name === name);
  return known ?? createRole(world, name, { guild: { id: guildId } });
}
