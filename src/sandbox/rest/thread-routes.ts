import { ChannelType } from "discord-api-types/v10";
import { Hono } from "hono";
import { apiThread, apiThreadMember } from "../wire/api-channel.ts";
import { apiMessage } from "../wire/api-message.ts";
import { asThread, isGuildChannel } from "../world/channel-kinds.ts";
import { DiscordError } from "../world/discord-error.ts";
import { canView, demand } from "../world/permissions.ts";
import type { Thread } from "../world/state.ts";
import { addToThread, postInForum, removeFromThread, threadInChannel, threadOnMessage } from "../world/threads.ts";
import { readDraft } from "./message-body.ts";
import { field, part, type RequestBody, readBody, requiredText } from "./request-body.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";

export function threadRoutes({ world }: RestParts): Hono<RestEnvironment> {
  const bot = world.state.botId;
  const me = (userId: string) => (userId === "@me" ? bot : userId);

  /** Threads with the bot's own memberships in them. */
  const listing = (threads: readonly Thread[]) => ({
    threads: threads.map((thread) => apiThread(thread, bot)),
    members: threads.filter((thread) => bot in thread.members).map((thread) => apiThreadMember(thread, bot)),
  });

  /** Archived last, listed first. */
  const archived = (channelId: string, query: Record<string, string>, belongs: (thread: Thread) => boolean) => {
    const channel = world.channel(channelId);
    demand(world, bot, channel, "ReadMessageHistory");
    if (!isGuildChannel(channel)) throw new DiscordError(50024);
    const limit = Number(query["limit"] ?? 50);
    const before = Date.parse(query["before"] ?? "") || Number.POSITIVE_INFINITY;
    const found = world
      .threadsOf(channel.guildId, channelId)
      .filter((thread) => thread.archived && belongs(thread) && Date.parse(thread.archiveChangedAt) < before)
      .sort((first, second) => Date.parse(second.archiveChangedAt) - Date.parse(first.archiveChangedAt));
    return { ...listing(found.slice(0, limit)), has_more: found.length > limit };
  };
  const isPrivate = ({ type }: Thread) => type === ChannelType.PrivateThread;

  return new Hono<RestEnvironment>()
    .post("/channels/:channelId/messages/:messageId/threads", async (context) => {
      const { json } = await readBody(context);
      const { channelId, messageId } = context.req.param();
      return context.json(apiThread(threadOnMessage(world, bot, channelId, messageId, plan(json)), bot), 201);
    })
    .post("/channels/:channelId/threads", async (context) => {
      const { json, files } = await readBody(context);
      const channelId = context.req.param("channelId");
      if (world.channel(channelId).type === ChannelType.GuildForum) {
        const first = { json: part(json, "message") ?? {}, files };
        const { thread, message } = postInForum(world, bot, channelId, plan(json), readDraft(first));
        return context.json(
          { ...apiThread(thread, bot), message: apiMessage(world, message, { id: bot, mayRead: true }) },
          201,
        );
      }
      const isPrivate = (field(json, "type", "number") ?? ChannelType.PrivateThread) === ChannelType.PrivateThread;
      const invitable = field(json, "invitable", "boolean");
      const thread = threadInChannel(world, bot, channelId, { ...plan(json), isPrivate, invitable });
      return context.json(apiThread(thread, bot), 201);
    })
    .get("/channels/:channelId/thread-members", (context) => {
      const thread = asThread(world.channel(context.req.param("channelId")));
      demand(world, bot, thread);
      return context.json(Object.keys(thread.members).map((userId) => apiThreadMember(thread, userId)));
    })
    .get("/channels/:channelId/thread-members/:userId", (context) => {
      const thread = asThread(world.channel(context.req.param("channelId")));
      demand(world, bot, thread);
      const userId = me(context.req.param("userId"));
      if (!Object.hasOwn(thread.members, userId)) throw new DiscordError(10007);
      return context.json(apiThreadMember(thread, userId));
    })
    .put("/channels/:channelId/thread-members/:userId", (context) => {
      addToThread(world, bot, context.req.param("channelId"), me(context.req.param("userId")));
      return context.body(null, 204);
    })
    .delete("/channels/:channelId/thread-members/:userId", (context) => {
      removeFromThread(world, bot, context.req.param("channelId"), me(context.req.param("userId")));
      return context.body(null, 204);
    })
    .get("/guilds/:guildId/threads/active", (context) => {
      const guild = world.guild(context.req.param("guildId"));
      if (!guild.members[bot]) throw new DiscordError(50001);
      const active = world.threadsOf(guild.id).filter((thread) => !thread.archived && canView(world, bot, thread));
      return context.json(listing(active));
    })
    .get("/channels/:channelId/threads/archived/public", (context) => {
      const { channelId } = context.req.param();
      return context.json(archived(channelId, context.req.query(), (thread) => !isPrivate(thread)));
    })
    .get("/channels/:channelId/threads/archived/private", (context) => {
      const { channelId } = context.req.param();
      demand(world, bot, world.channel(channelId), "ManageThreads");
      return context.json(archived(channelId, context.req.query(), isPrivate));
    })
    .get("/channels/:channelId/users/@me/threads/archived/private", (context) => {
      const { channelId } = context.req.param();
      const isOwn = (thread: Thread) => isPrivate(thread) && bot in thread.members;
      return context.json(archived(channelId, context.req.query(), isOwn));
    });
}

function plan(json: RequestBody["json"]): { name: string; autoArchive: number | undefined } {
  return { name: requiredText(json, "name"), autoArchive: field(json, "auto_archive_duration", "number") };
}
