import { Hono } from "hono";
import { apiApplication } from "../wire/api-application.ts";
import { apiChannel } from "../wire/api-channel.ts";
import { apiGuild } from "../wire/api-guild.ts";
import { apiUser } from "../wire/api-member.ts";
import { openDirectChannel } from "../world/channels.ts";
import { readBody, requiredText } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

/** The bot itself: who it is, where its gateway is, its servers and whom it writes to. */
export function applicationRoutes({ world, access, gateway }: RestParts): Hono<RestEnvironment> {
  const application = () => apiApplication(world, access.intents.has("MessageContent"));
  return new Hono<RestEnvironment>()
    .get("/gateway", (context) => context.json({ url: gateway.url }))
    .get("/gateway/bot", (context) =>
      context.json({
        url: gateway.url,
        shards: 1,
        session_start_limit: { total: 1_000, remaining: 1_000, reset_after: 86_400_000, max_concurrency: 1 },
      }),
    )
    .get("/applications/@me", (context) => context.json(application()))
    .get("/oauth2/applications/@me", (context) => context.json(application()))
    .get("/users/@me", (context) => context.json(apiUser(world.bot)))
    .get("/users/@me/guilds", (context) => context.json(world.guildsOf(world.state.botId).map(apiGuild)))
    .post("/users/@me/channels", async (context) => {
      const { json } = await readBody(context);
      const channel = openDirectChannel(world, world.state.botId, requiredText(json, "recipient_id"));
      return context.json(apiChannel(world, channel, world.state.botId));
    })
    .get("/users/:userId", (context) => context.json(apiUser(world.user(context.req.param("userId")))));
}
