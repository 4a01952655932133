import { GatewayDispatchEvents, type GatewayDispatchPayload, MessageFlags } from "discord.js";
import { describe, expect, it } from "vitest";
import { readNews } from "../../src/discord/gateway-news.ts";
import { ids, people } from "./support/known-world.ts";

function news(t: GatewayDispatchEvents, d: object, me: string | undefined = ids.bot) {
  const packet = { op: 0, s: 1, t, d } as unknown as GatewayDispatchPayload;
  return readNews(packet, { me, allowedBots: new Set(["99", ids.bot]) });
}

const update = (extra: object) =>
  news(GatewayDispatchEvents.MessageUpdate, { id: "1", channel_id: "2", author: people.ada, ...extra });

describe("a message that is updated", () => {
  it("is edited if it says when", () => {
    expect(update({ edited_timestamp: "2026-11-30T00:00:00.250Z" })).toEqual({
      news: "message-edited",
      channel: "2",
      message: "1",
      editedAt: Date.UTC(2026, 10, 30, 0, 0, 0, 250),
    });
  });

  it("is not by a link preview, by the bot itself, or by a thinking that becomes an answer", () => {
    expect(update({ embeds: [{}] })).toBeUndefined();
    expect(update({ edited_timestamp: null })).toBeUndefined();
    const edited_timestamp = "2026-11-30T00:00:00Z";
    expect(update({ edited_timestamp, author: people.bot })).toBeUndefined();
    expect(update({ edited_timestamp, flags: MessageFlags.Loading })).toBeUndefined();
    expect(update({ edited_timestamp, author: undefined })).toMatchObject({ news: "message-edited" });
  });
});

describe("an edit of a bot", () => {
  it("is none, be it a bot's or a webhook's, unless it is listened to", () => {
    const edited_timestamp = "2026-11-30T00:00:00Z";
    expect(update({ edited_timestamp, author: people.otherBot })).toBeUndefined();
    expect(update({ edited_timestamp, author: { ...people.ada, id: "98" }, webhook_id: "98" })).toBeUndefined();
    const heard = { news: "message-edited" };
    expect(update({ edited_timestamp, author: { ...people.otherBot, id: "99" } })).toMatchObject(heard);
    expect(update({ edited_timestamp, author: { ...people.ada, id: "99" }, webhook_id: "99" })).toMatchObject(heard);
  });
});

describe("what is gone", () => {
  it("is told by its ids", () => {
    expect(news(GatewayDispatchEvents.MessageDelete, { id: "1", channel_id: "2" })).toEqual({
      news: "messages-deleted",
      messages: ["1"],
    });
    expect(news(GatewayDispatchEvents.MessageDeleteBulk, { ids: ["1", "3"], channel_id: "2" })).toEqual({
      news: "messages-deleted",
      messages: ["1", "3"],
    });
    expect(news(GatewayDispatchEvents.ThreadDelete, { id: "4" })).toEqual({ news: "thread-gone", thread: "4" });
    expect(news(GatewayDispatchEvents.ChannelDelete, { id: "2" })).toEqual({ news: "channel-gone", channel: "2" });
  });

  it("is a server that was left, and not one that is out", () => {
    expect(news(GatewayDispatchEvents.GuildDelete, { id: "5" })).toEqual({ news: "guild-left", guild: "5" });
    const out = { news: "guild-out", guild: "5" };
    expect(news(GatewayDispatchEvents.GuildDelete, { id: "5", unavailable: true })).toEqual(out);
  });
});

describe("a connection", () => {
  it("that begins anew tells of all its servers, also of those that are out", () => {
    const guilds = [{ id: "5", unavailable: true }, { id: "6" }];
    expect(news(GatewayDispatchEvents.Ready, { guilds }, undefined)).toEqual({ news: "began", guilds: ["5", "6"] });
  });

  it("that is resumed, and what is new, is no such news", () => {
    expect(news(GatewayDispatchEvents.Resumed, {})).toBeUndefined();
    expect(news(GatewayDispatchEvents.MessageCreate, { id: "1" })).toBeUndefined();
  });
});
