import { AllowedMentionsTypes, type APIAllowedMentions } from "discord-api-types/v10";
import { may } from "./permissions.ts";
import type { Channel, Pings } from "./state.ts";
import type { World } from "./world.ts";

export const noPings: Pings = { users: [], roles: [], everyone: false };

/** What a text names, and what of it the sender lets ring. */
export interface Naming {
  readonly authorId: string;
  readonly channel: Channel;
  readonly content: string;
  /** Left out, everything rings. https://discord.com/developers/docs/resources/message#allowed-mentions-object */
  readonly allowed: APIAllowedMentions | undefined;
  /** Whose message is replied to. */
  readonly repliedTo: string | undefined;
}

/** Who a message rings for, out of whom it names. */
export function pingsOf(world: World, { authorId, channel, content, allowed, repliedTo }: Naming): Pings {
  const guildId = "guildId" in channel ? channel.guildId : undefined;
  const roles = guildId ? world.guild(guildId).roles : {};
  const mayRingAll = guildId !== undefined && may(world, authorId, channel, "MentionEveryone");
  const lets = (kind: AllowedMentionsTypes) => !allowed || (allowed.parse?.includes(kind) ?? false);

  const namedUsers = idsIn(content, /<@!?(\d+)>/g).filter((id) => world.state.users[id]);
  const users = namedUsers.filter((id) => lets(AllowedMentionsTypes.User) || allowed?.users?.includes(id));
  if (repliedTo && (!allowed || allowed.replied_user) && !users.includes(repliedTo)) users.push(repliedTo);

  return {
    users,
    roles: idsIn(content, /<@&(\d+)>/g)
      .filter((id) => lets(AllowedMentionsTypes.Role) || allowed?.roles?.includes(id))
      .filter((id) => roles[id] && (roles[id].mentionable || mayRingAll)),
    everyone: mayRingAll && lets(AllowedMentionsTypes.Everyone) && /@(everyone|here)\b/.test(content),
  };
}

/** Both together, each once. */
export function joinPings(first: Pings, second: Pings): Pings {
  return {
    users: [...new Set([...first.users, ...second.users])],
    roles: [...new Set([...first.roles, ...second.roles])],
    everyone: first.everyone || second.everyone,
  };
}

function idsIn(content: string, pattern: RegExp): string[] {
  return [...new Set([...content.matchAll(pattern)].map((match) => match[1] ?? ""))];
}
