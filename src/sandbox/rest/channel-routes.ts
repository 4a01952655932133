import { Hono } from "hono";
import { apiChannel } from "../wire/api-channel.ts";
import { isThread } from "../world/channel-kinds.ts";
import { deleteChannel, editChannel, showTyping } from "../world/channels.ts";
import { demand } from "../world/permissions.ts";
import { editThread } from "../world/threads.ts";
import { field, readBody } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

/** A channel or thread itself. */
export function channelRoutes({ world, limits }: RestParts): Hono<RestEnvironment> {
  const bot = world.state.botId;
  return new Hono<RestEnvironment>()
    .get("/channels/:channelId", (context) => {
      const channel = world.channel(context.req.param("channelId"));
      demand(world, bot, channel);
      return context.json(apiChannel(world, channel, bot));
    })
    .patch("/channels/:channelId", async (context) => {
      const { json } = await readBody(context);
      const channel = world.channel(context.req.param("channelId"));
      const name = field(json, "name", "string");
      if ("name" in channel && name !== undefined && name !== channel.name) limits.takeRename(channel.id);
      const changed = isThread(channel)
        ? editThread(world, bot, channel.id, {
            name,
            archived: field(json, "archived", "boolean"),
            locked: field(json, "locked", "boolean"),
            autoArchive: field(json, "auto_archive_duration", "number"),
            invitable: field(json, "invitable", "boolean"),
          })
        : editChannel(world, bot, channel.id, { name, topic: field(json, "topic", "string") });
      return context.json(apiChannel(world, changed, bot));
    })
    .delete("/channels/:channelId", (context) => {
      const channel = world.channel(context.req.param("channelId"));
      deleteChannel(world, bot, channel.id);
      return context.json(apiChannel(world, channel, bot));
    })
    .post("/channels/:channelId/typing", (context) => {
      showTyping(world, bot, context.req.param("channelId"));
      return context.body(null, 204);
    });
}
