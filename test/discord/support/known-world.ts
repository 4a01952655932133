import { ChannelType, type Client, ClientUser, type Message, MessageType } from "discord.js";
import { createClient } from "../../../src/discord/client.ts";

/** Ids as Discord makes them: 18 digits, growing. */
export const ids = {
  bot: "100000000000000001",
  ada: "100000000000000002",
  bob: "100000000000000003",
  otherBot: "100000000000000004",
  guild: "200000000000000001",
  everyone: "200000000000000001",
  botRole: "200000000000000002",
  moderators: "200000000000000003",
  general: "300000000000000001",
  forum: "300000000000000002",
  voice: "300000000000000003",
  ownThread: "400000000000000001",
  foreignThread: "400000000000000002",
  post: "400000000000000003",
  direct: "500000000000000001",
} as const;

const user = (id: string, username: string, bot = false) => ({
  id,
  username,
  discriminator: "0",
  global_name: null,
  bot,
});
export const people = {
  ada: { ...user(ids.ada, "ada"), global_name: "Ada" },
  bob: { ...user(ids.bob, "bob"), global_name: "Bob" },
  otherBot: user(ids.otherBot, "helper", true),
  bot: user(ids.bot, "Keeper", true),
};

const role = (id: string, name: string, extra: object = {}) => ({
  id,
  name,
  permissions: "274877975616",
  position: 0,
  ...extra,
});
const thread = (id: string, parent: string, owner: string, extra: object = {}) => ({
  id,
  type: ChannelType.PublicThread,
  guild_id: ids.guild,
  parent_id: parent,
  owner_id: owner,
  name: `thread ${id}`,
  thread_metadata: {
    archived: false,
    locked: false,
    auto_archive_duration: 1440,
    archive_timestamp: "2026-01-01T00:00:00Z",
  },
  ...extra,
});

/** What a client knows after the gateway told it of one server; nothing is connected. */
export function knownClient(options: { readonly permissions?: bigint; readonly locked?: boolean } = {}): Client<true> {
  const client = createClient({});
  const inside = client as unknown as {
    user: ClientUser;
    guilds: { _add(data: object): void };
    channels: { _add(data: object): void };
  };
  inside.user = Reflect.construct(ClientUser, [client, people.bot]) as ClientUser;
  const permissions = (options.permissions ?? 0x7fffffffffffn).toString();
  const locked = {
    archived: true,
    locked: true,
    auto_archive_duration: 1440,
    archive_timestamp: "2026-01-01T00:00:00Z",
  };
  inside.guilds._add({
    id: ids.guild,
    name: "Home",
    owner_id: ids.ada,
    roles: [
      role(ids.everyone, "@everyone", { permissions }),
      role(ids.botRole, "Keeper", { permissions: "0", managed: true, tags: { bot_id: ids.bot } }),
      role(ids.moderators, "moderators", { permissions: "0" }),
    ],
    channels: [
      { id: ids.general, type: ChannelType.GuildText, name: "general", permission_overwrites: [] },
      { id: ids.forum, type: ChannelType.GuildForum, name: "questions", permission_overwrites: [] },
      { id: ids.voice, type: ChannelType.GuildVoice, name: "lounge", bitrate: 64_000, permission_overwrites: [] },
    ],
    members: [{ user: people.bot, roles: [ids.botRole], joined_at: "2026-01-01T00:00:00Z" }],
    threads: [
      thread(ids.ownThread, ids.general, ids.bot, options.locked ? { thread_metadata: locked } : {}),
      thread(ids.foreignThread, ids.general, ids.bob),
      thread(ids.post, ids.forum, ids.ada),
    ],
  });
  inside.channels._add({ id: ids.direct, type: ChannelType.DM, recipients: [people.ada] });
  return client as Client<true>;
}

let lastId = 600000000000000000n;

/** A message as the gateway would deliver it, read by the real discord.js. */
export function delivered(client: Client<true>, channel: string, content: string, extra: object = {}): Message {
  lastId += 1n;
  const data = {
    id: lastId.toString(),
    channel_id: channel,
    type: MessageType.Default,
    author: people.ada,
    content,
    timestamp: "2026-01-01T00:00:00Z",
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    ...(channel === ids.direct ? { channel_type: ChannelType.DM } : { guild_id: ids.guild }),
    ...extra,
  };
  const inside = client as unknown as { actions: { MessageCreate: { handle(data: object): { message: Message } } } };
  return inside.actions.MessageCreate.handle(data).message;
}
