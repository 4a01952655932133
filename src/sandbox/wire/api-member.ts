import type { APIGuildMember, APIRole, APIUser, GuildMemberFlags, RoleFlags } from "discord-api-types/v10";
import type { Member, Role, User } from "../world/state.ts";
import type { World } from "../world/world.ts";

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

/** A member without the user, as it comes with a message. */
export type ApiMembership = Omit<APIGuildMember, "user">;

export function apiMember(member: Member): ApiMembership {
  return {
    nick: member.nick,
    roles: [...member.roles],
    joined_at: member.joinedAt,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: 0 as GuildMemberFlags,
    avatar: null,
    banner: null,
  };
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
