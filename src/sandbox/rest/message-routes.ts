import { Hono } from "hono";
import { apiMessage } from "../wire/api-message.ts";
import { invalid } from "../world/discord-error.ts";
import { deleteMessage, deleteMessages, editMessage } from "../world/editing.ts";
import { demand, may } from "../world/permissions.ts";
import { postMessage } from "../world/posting.ts";
import { compareIds } from "../world/snowflake.ts";
import type { Message } from "../world/state.ts";
import { readDraft, readEdit } from "./message-body.ts";
import { readBody, texts } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

const hour = 60 * 60_000;

export function messageRoutes({ world, access, limits }: RestParts): Hono<RestEnvironment> {
  const bot = world.state.botId;
  const api = (message: Message, withNonce = false) =>
    apiMessage(world, message, { id: bot, mayRead: access.intents.has("MessageContent") }, { withNonce });
  return new Hono<RestEnvironment>()
    .get("/channels/:channelId/messages", (context) => {
      const channel = world.channel(context.req.param("channelId"));
      demand(world, bot, channel);
      // Without the right to read it, a channel's history is empty.
      if (!may(world, bot, channel, "ReadMessageHistory")) return context.json([]);
      return context.json(page(world.messages(channel.id), context.req.query()).map((message) => api(message)));
    })
    .post("/channels/:channelId/messages", async (context) => {
      const draft = readDraft(await readBody(context));
      return context.json(api(postMessage(world, bot, context.req.param("channelId"), draft), true));
    })
    .post("/channels/:channelId/messages/bulk-delete", async (context) => {
      const { json } = await readBody(context);
      deleteMessages(world, bot, context.req.param("channelId"), texts(json, "messages") ?? []);
      return context.body(null, 204);
    })
    .get("/channels/:channelId/messages/:messageId", (context) => {
      const channel = world.channel(context.req.param("channelId"));
      demand(world, bot, channel, "ReadMessageHistory");
      return context.json(api(world.message(channel.id, context.req.param("messageId"))));
    })
    .patch("/channels/:channelId/messages/:messageId", async (context) => {
      const edit = readEdit(await readBody(context));
      const { channelId, messageId } = context.req.param();
      const known = world.findMessage(world.channel(channelId).id, messageId);
      if (known && Date.now() - Date.parse(known.createdAt) > hour) limits.takeOldEdit(channelId);
      return context.json(api(editMessage(world, bot, channelId, messageId, edit)));
    })
    .delete("/channels/:channelId/messages/:messageId", (context) => {
      deleteMessage(world, bot, context.req.param("channelId"), context.req.param("messageId"));
      return context.body(null, 204);
    });
}

/** Newest first, whichever way one pages; `after` gives those that follow at once. */
function page(
  messages: readonly Message[],
  { limit = "50", before, after, around }: Record<string, string>,
): readonly Message[] {
  const size = Number(limit);
  if (!(Number.isInteger(size) && size >= 1 && size <= 100)) {
    throw invalid(["limit"], "NUMBER_TYPE_MAX", "int value should be between 1 and 100.");
  }
  const older = (id: string) => messages.filter((message) => compareIds(message.id, id) < 0);
  const newer = (id: string) => messages.filter((message) => compareIds(message.id, id) > 0);
  if (around) {
    const half = Math.floor(size / 2);
    const middle = messages.filter(({ id }) => id === around);
    return [...older(around).slice(-half), ...middle, ...newer(around).slice(0, half)].toReversed();
  }
  if (after) return newer(after).slice(0, size).toReversed();
  return (before ? older(before) : messages).slice(-size).toReversed();
}
