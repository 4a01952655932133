import type { Client } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import { forgetAbsentPlaces } from "../../src/discord/absent-places.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { channelPlace, guildPlace } from "../../src/discord/whereabouts.ts";
import { knownMemory } from "./support/known-memory.ts";
import { ids, knownClient } from "./support/known-world.ts";
import { refusal } from "./support/refusal.ts";

const left = "200000000000000009";
const gone = "300000000000000008";
const hidden = "300000000000000009";

function away({ shards = 1, shard = 0, isOut = false } = {}) {
  const client = knownClient();
  for (let number = 0; number < shards; number += 1) client.ws.shards.set(number, {} as never);
  if (isOut) (client.guilds.cache.get(ids.guild) as { available: boolean }).available = false;
  const places = [
    guildPlace(ids.bot, ids.guild),
    guildPlace(ids.bot, left),
    guildPlace(ids.otherBot, left),
    channelPlace(ids.bot, ids.general),
    channelPlace(ids.bot, gone),
    channelPlace(ids.bot, hidden),
    channelPlace(ids.otherBot, gone),
  ];
  const memory = knownMemory({
    places: async (prefix) => places.filter((place) => place.startsWith(prefix)),
    forgetPlace: async () => 2,
  });
  vi.spyOn(client.rest, "get").mockImplementation(async (route) => {
    throw String(route).endsWith(gone) ? refusal(10003) : refusal(50001, 403);
  });
  const run = () =>
    forgetAbsentPlaces(
      { client: client as Client<true>, memory, budget: new RequestBudget() },
      { shard, guilds: [ids.guild] },
    );
  return { run, forgotten: () => memory.forgetPlace.mock.calls.map(([place]) => place) };
}

describe("what went while nobody listened", () => {
  it("is forgotten: servers that the bot is no longer in, channels that Discord doesn't know", async () => {
    const { run, forgotten } = away();
    expect(await run()).toBe(4);
    expect(forgotten()).toEqual([guildPlace(ids.bot, left), channelPlace(ids.bot, gone)]);
  });

  it("is not a server that is on another connection", async () => {
    const shardOfLeft = Number((BigInt(left) >> 22n) % 3n);
    const other = away({ shards: 3, shard: (shardOfLeft + 1) % 3 });
    await other.run();
    expect(other.forgotten()).not.toContain(guildPlace(ids.bot, left));
    const own = away({ shards: 3, shard: shardOfLeft });
    await own.run();
    expect(own.forgotten()).toContain(guildPlace(ids.bot, left));
  });

  it("can't be told of channels while a server is out", async () => {
    const { run, forgotten } = away({ isOut: true });
    expect(await run()).toBe(2);
    expect(forgotten()).toEqual([guildPlace(ids.bot, left)]);
  });
});
