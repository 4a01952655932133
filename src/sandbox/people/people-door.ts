import { Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isSameSecret } from "../bot-access.ts";
import { field, type RequestBody, readBody, requiredText } from "../rest/request-body.ts";
import type { RestEnvironment } from "../rest/rest-parts.ts";
import { DiscordError } from "../world/discord-error.ts";
import type { World } from "../world/world.ts";
import { Actor } from "./actor.ts";
import { findChannel } from "./channel-reference.ts";
import { channelText, messageText } from "./channel-text.ts";
import type { RunningInteraction } from "./running-interaction.ts";

/**
 * The people's side over HTTP, for another process on this machine: `Authorization: Bearer <key>` with this start's
 * key. Channels and people go by name.
 */
export function peopleRoutes(world: World, key: string): Hono<RestEnvironment> {
  const app = new Hono<RestEnvironment>().basePath("/people");

  app.use(async (context, next) => {
    const given = context.req.header("authorization");
    if (given === undefined) return context.json({ message: "The people's side needs this start's key." }, 401);
    if (!isSameSecret(given, `Bearer ${key}`)) return context.json({ message: "That is not this start's key." }, 403);
    return next();
  });

  app
    .get("/", (context) => {
      const channels = Object.values(world.state.channels).filter((channel) => "name" in channel);
      return context.json({
        people: Object.values(world.state.users).map(({ id, name, bot }) => ({ id, name, bot })),
        channels: channels.map(({ id, name, type }) => ({ id, name, type })),
      });
    })
    .get("/channels/:channel/text", (context) =>
      context.text(channelText(world, findChannel(world, context.req.param("channel")).id)),
    )
    .get("/channels/:channel/messages", (context) =>
      context.json(world.messages(findChannel(world, context.req.param("channel")).id)),
    )
    .post("/say", async (context) => {
      const { json } = await readBody(context);
      const channel = findChannel(world, requiredText(json, "in"));
      const answered = field(json, "replyTo", "string");
      const options = answered === undefined ? {} : { replyTo: world.message(channel.id, answered) };
      return context.json(speaker(json).says(channel, requiredText(json, "text"), options));
    })
    .post("/run", async (context) => {
      const { json } = await readBody(context);
      const running = speaker(json).runs(requiredText(json, "command"), { in: requiredText(json, "in") });
      return context.json(await outcome(running));
    })
    .post("/click", async (context) => {
      const { json } = await readBody(context);
      const running = speaker(json).clicks(requiredText(json, "label"), { in: requiredText(json, "in") });
      return context.json(await outcome(running));
    });

  app.onError((error, context) => {
    if (error instanceof DiscordError) {
      return context.json({ ...error.toBody(), message: error.message }, error.status as ContentfulStatusCode);
    }
    return context.json({ message: error.message }, 400);
  });
  return app;

  function speaker(json: RequestBody["json"]): Actor {
    const name = requiredText(json, "as");
    const user = world.userByName(name);
    if (!user) throw new Error(`there is nobody called ${name}`);
    return new Actor(world, user);
  }

  /** What the bot has made of it once it has taken notice. */
  async function outcome(running: RunningInteraction): Promise<object> {
    const { status } = await running.acknowledgement();
    return { status, messages: running.messages.map((message) => messageText(world, message)) };
  }
}
