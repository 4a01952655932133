import { type Client, ShardClientUtil } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Absence } from "./absences.ts";
import { isChannelGone } from "./discord-error.ts";
import type { RequestBudget } from "./request-budget.ts";
import { channelPlace, channelPlaces, guildPlace, guildPlaces } from "./whereabouts.ts";

export interface AbsentPlacesPlan {
  readonly client: Client<true>;
  readonly memory: Memory;
  readonly budget: RequestBudget;
}

/** So many channels are asked for, each time. */
const mostChannels = 50;

/**
 * Forgets the servers that were left and the channels that were deleted while nobody listened. Resolves to how many
 * sessions there were. Of places of another bot on the same store nothing can be said, nor of those in an outage.
 */
export async function forgetAbsentPlaces(
  plan: AbsentPlacesPlan,
  { shard, guilds }: Pick<Absence, "shard" | "guilds">,
): Promise<number> {
  const { client, memory, budget } = plan;
  const me = client.user.id;
  let sessions = 0;
  for (const place of await memory.places(guildPlaces(me))) {
    const guild = place.slice(guildPlace(me, "").length);
    const isOfShard = ShardClientUtil.shardIdForGuildId(guild, client.ws.shards.size) === shard;
    if (isOfShard && !guilds.includes(guild)) sessions += await memory.forgetPlace(place);
  }
  if (client.guilds.cache.some(({ available }) => !available)) return sessions;
  const there = new Set(client.guilds.cache.flatMap((guild) => guild.channels.cache).map(({ id }) => id));
  const channels = (await memory.places(channelPlaces(me))).map((place) => place.slice(channelPlace(me, "").length));
  for (const channel of channels.filter((id) => !there.has(id)).slice(0, mostChannels)) {
    const askFor = () => client.channels.fetch(channel, { force: true, cache: false });
    const isGone = await budget.runCalmly(`channel ${channel}`, askFor).then(() => false, isChannelGone);
    if (isGone) sessions += await memory.forgetPlace(channelPlace(me, channel));
  }
  return sessions;
}
