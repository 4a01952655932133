import type { Client } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import type { Memory } from "../../src/conversation/memory.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { Upkeep } from "../../src/discord/upkeep.ts";
import { channelPlace, guildPlace } from "../../src/discord/whereabouts.ts";
import { knownMemory } from "./support/known-memory.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

function upkeep(client: Client = knownClient(), knows: Partial<Memory> = {}) {
  const { log, lines } = logLines();
  const memory = knownMemory(knows);
  return { memory, lines, upkeep: new Upkeep({ client, memory, budget: new RequestBudget(), log }) };
}

describe("an edit", () => {
  it("is read from what discord.js made of it", async () => {
    const client = knownClient();
    const { memory, upkeep: keeper, lines } = upkeep(client, { amend: async () => true });
    const edited_timestamp = "2026-11-30T00:00:00.500Z";
    const message = delivered(client, ids.ownThread, "better words", { edited_timestamp });
    const editedAt = Date.parse(edited_timestamp);
    await keeper.take({ news: "message-edited", channel: ids.ownThread, message: message.id, editedAt });
    expect(memory.amend.mock.calls).toEqual([
      [{ id: message.id, text: "better words", attachments: [], sessionIds: [`discord:${ids.ownThread}`] }],
    ]);
    expect(lines).toEqual(["debug: reworded"]);
  });

  it("in a channel may be of a call whose thread has its id, or that is answered in place", async () => {
    const client = knownClient();
    const { memory, upkeep: keeper } = upkeep(client);
    const edited_timestamp = "2026-11-30T00:00:00Z";
    const message = delivered(client, ids.general, "words", { edited_timestamp });
    const editedAt = Date.parse(edited_timestamp);
    await keeper.take({ news: "message-edited", channel: ids.general, message: message.id, editedAt });
    expect(memory.amend.mock.calls[0]?.[0].sessionIds).toEqual([`discord:${message.id}`, `discord:${ids.general}`]);
  });

  it("that discord.js has not made anything of is fetched", async () => {
    const client = knownClient();
    const message = delivered(client, ids.ownThread, "first words");
    const { memory, upkeep: keeper } = upkeep(client);
    const now = { ...rest(message.id), content: "better words", edited_timestamp: "2026-11-30T00:00:00Z" };
    const get = vi.spyOn(client.rest, "get").mockResolvedValue(now);
    await keeper.take({ news: "message-edited", channel: ids.ownThread, message: message.id, editedAt: 1 });
    expect(get.mock.calls).toEqual([[`/channels/${ids.ownThread}/messages/${message.id}`]]);
    expect(memory.amend.mock.calls[0]?.[0]).toMatchObject({ text: "better words" });
  });

  it("of a message that is gone meanwhile, or may not be read, is nothing; another failure is told", async () => {
    const client = knownClient();
    const { memory, upkeep: keeper } = upkeep(client);
    const news = {
      news: "message-edited",
      channel: ids.ownThread,
      message: "600000000000000999",
      editedAt: 1,
    } as const;
    vi.spyOn(client.rest, "get")
      .mockRejectedValueOnce(refusal(10008))
      .mockRejectedValueOnce(refusal(50001, 403))
      .mockRejectedValueOnce(refusal(0, 500));
    await keeper.take(news);
    await keeper.take(news);
    await expect(keeper.take(news)).rejects.toThrow();
    expect(memory.amend).not.toHaveBeenCalled();
  });
});

describe("what is gone", () => {
  it("is forgotten by its ids and places", async () => {
    const {
      memory,
      upkeep: keeper,
      lines,
    } = upkeep(knownClient(), {
      erase: async () => 2,
      forget: async () => true,
      forgetPlace: async () => 3,
    });
    await keeper.take({ news: "messages-deleted", messages: ["1", "2"] });
    await keeper.take({ news: "thread-gone", thread: ids.ownThread });
    await keeper.take({ news: "channel-gone", channel: ids.general });
    await keeper.take({ news: "guild-left", guild: ids.guild });
    expect(memory.erase.mock.calls).toEqual([[["1", "2"]]]);
    expect(memory.forget.mock.calls).toEqual([[`discord:${ids.ownThread}`]]);
    expect(memory.forgetPlace.mock.calls).toEqual([
      [channelPlace(ids.bot, ids.general)],
      [guildPlace(ids.bot, ids.guild)],
    ]);
    expect(lines).toEqual([
      "info: deleted messages are forgotten",
      "info: a deleted thread is forgotten",
      "info: a deleted channel is forgotten",
      "info: a server that was left is forgotten",
    ]);
  });

  it("and was never known is nothing to tell of", async () => {
    const { upkeep: keeper, lines } = upkeep();
    await keeper.take({ news: "messages-deleted", messages: ["1"] });
    await keeper.take({ news: "thread-gone", thread: "1" });
    await keeper.take({ news: "channel-gone", channel: "2" });
    expect(lines).toEqual([]);
  });
});

function rest(id: string): object {
  const author = { id: ids.ada, username: "ada", discriminator: "0", global_name: "Ada" };
  const lists = { mentions: [], mention_roles: [], attachments: [], embeds: [] };
  return { id, channel_id: ids.ownThread, type: 0, author, timestamp: "2026-01-01T00:00:00Z", ...lists };
}
