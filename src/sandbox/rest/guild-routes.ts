import { Hono } from "hono";
import { apiChannel } from "../wire/api-channel.ts";
import { apiGuild } from "../wire/api-guild.ts";
import { apiGuildMember, apiRole } from "../wire/api-member.ts";
import { DiscordError } from "../world/discord-error.ts";
import type { Guild } from "../world/state.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

/** Servers as their member sees them; to others they don't exist. */
export function guildRoutes({ world }: RestParts): Hono<RestEnvironment> {
  const bot = world.state.botId;
  const seen = (guildId: string): Guild => {
    const guild = world.guild(guildId);
    if (!guild.members[bot]) throw new DiscordError(10004);
    return guild;
  };
  return new Hono<RestEnvironment>()
    .get("/guilds/:guildId", (context) => context.json(apiGuild(seen(context.req.param("guildId")))))
    .get("/guilds/:guildId/channels", (context) => {
      const guild = seen(context.req.param("guildId"));
      return context.json(world.channelsOf(guild.id).map((channel) => apiChannel(world, channel, bot)));
    })
    .get("/guilds/:guildId/roles", (context) =>
      context.json(Object.values(seen(context.req.param("guildId")).roles).map(apiRole)),
    )
    .get("/guilds/:guildId/members/:userId", (context) => {
      const guild = seen(context.req.param("guildId"));
      const { userId } = context.req.param();
      return context.json(apiGuildMember(world, world.member(guild.id, userId === "@me" ? bot : userId)));
    });
}
