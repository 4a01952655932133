import { Client, GatewayIntentBits, Options, Partials, PermissionFlagsBits, PermissionsBitField } from "discord.js";
import { within } from "../within.ts";

/** What the bot has to be allowed in a server, and no more. The invite link asks for exactly these. */
export const neededPermissions = [
  PermissionFlagsBits.ViewChannel,
  PermissionFlagsBits.SendMessages,
  PermissionFlagsBits.CreatePublicThreads,
  PermissionFlagsBits.SendMessagesInThreads,
  PermissionFlagsBits.ReadMessageHistory,
] as const;

/** How many people are kept in mind, of each server and in all. */
const mostPeople = 200;
/** How long leaving Discord may take, in milliseconds. */
const leavingMs = 2_000;

export interface ClientPlan {
  /** Where Discord's API is, without a version. Default: https://discord.com/api */
  readonly api?: string | undefined;
}

export function createClient({ api }: ClientPlan): Client {
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    // A direct conversation is not known after a restart: without this its messages are dropped.
    partials: [Partials.Channel, Partials.Message],
    // Nothing that is sent by whatever way pings anybody, fails for a deleted message, or is posted twice.
    allowedMentions: { parse: [], repliedUser: false },
    failIfNotExists: false,
    enforceNonce: true,
    // As many connections as Discord recommends: one, unless the bot is in very many servers.
    shards: "auto",
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 10,
      ReactionManager: 0,
      // Of everybody who ever wrote, the newest: their names are read. The bot itself is what its permissions are read from.
      GuildMemberManager: { maxSize: mostPeople, keepOverLimit: ({ id, client }) => id === client.user.id },
      UserManager: { maxSize: mostPeople, keepOverLimit: ({ id, client }) => id === client.user.id },
    }),
    waitGuildTimeout: 5_000,
    rest: { ...(api === undefined ? {} : { api }), timeout: 15_000, retries: 3 },
  });
  // Each command listens there while it is acknowledged: many at once are no leak.
  client.rest.setMaxListeners(0);
  return client;
}

/** The address where the owner of a server invites the bot, with exactly the permissions it needs. */
export function inviteLink(applicationId: string): string {
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: new PermissionsBitField(neededPermissions).bitfield.toString(),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}

/**
 * Leaves Discord for good. `client.destroy()` alone does not: a shard that is between two tries to connect goes on
 * trying (@discordjs/ws 1.2.3), which keeps the process alive and would log in once more. Before each try the shard
 * asks for its session, and here it waits for the answer for ever.
 */
export async function destroyClient(client: Client): Promise<void> {
  const never = new Promise<never>(() => {});
  const withoutSession = { sessionInfo: { get: () => never, set: () => {} } };
  for (const [id, shard] of client.ws.shards) client.ws.shards.set(id, Object.create(shard, withoutSession));
  // A shard that waits for READY is closed, but its `destroy` never resolves.
  await within(leavingMs, client.destroy());
}
