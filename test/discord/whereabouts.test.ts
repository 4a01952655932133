import type { Channel } from "discord.js";
import { describe, expect, it } from "vitest";
import { channelPlace, directPlace, guildPlace, placesOf } from "../../src/discord/whereabouts.ts";
import { ids, knownClient } from "./support/known-world.ts";

const client = knownClient();
const server = guildPlace(ids.bot, ids.guild);

function places(id: string, guildId: string | null = ids.guild, channel = client.channels.cache.get(id)): string[] {
  return placesOf({ client, guildId, channelId: id, channel: (channel ?? null) as Channel | null });
}

describe("where a session lies", () => {
  it("is its server, and its channel or the one above its thread", () => {
    expect(places(ids.general)).toEqual([server, channelPlace(ids.bot, ids.general)]);
    expect(places(ids.ownThread)).toEqual([server, channelPlace(ids.bot, ids.general)]);
    expect(places(ids.post)).toEqual([server, channelPlace(ids.bot, ids.forum)]);
  });

  it("is among the direct conversations for one of these, whether its channel is known or not", () => {
    expect(places(ids.direct, null)).toEqual([directPlace(ids.bot)]);
    expect(places("500000000000000009", null)).toEqual([directPlace(ids.bot)]);
  });

  it("is not the same for two bots", () => {
    expect(guildPlace(ids.bot, ids.guild)).not.toBe(guildPlace(ids.otherBot, ids.guild));
    expect(channelPlace(ids.bot, ids.general)).toContain(ids.bot);
    expect(directPlace(ids.bot)).not.toBe(directPlace(ids.otherBot));
  });
});
