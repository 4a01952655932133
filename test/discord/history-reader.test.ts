import { describe, expect, it, vi } from "vitest";
import { HistoryReader, pageSize } from "../../src/discord/history-reader.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { ids, knownClient, people } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

function reader(client = knownClient()) {
  const { log, lines } = logLines();
  return { client, lines, reader: new HistoryReader({ client, budget: new RequestBudget(), log }) };
}

function stored(number: number): object {
  const lists = { mentions: [], mention_roles: [], attachments: [], embeds: [] };
  const id = String(600_000_000_000_000_000n + BigInt(number));
  const timestamp = "2026-01-01T00:00:00Z";
  return { id, channel_id: ids.general, type: 0, author: people.ada, content: `${number}`, timestamp, ...lists };
}

describe("a history", () => {
  it("is opened where the bot may read it", async () => {
    const { reader: opens, client, lines } = reader();
    for (const id of [ids.general, ids.ownThread, ids.direct]) {
      expect(await opens.open(id)).toBe(client.channels.cache.get(id));
    }
    expect(await opens.open(ids.forum)).toBeUndefined();
    const shut = reader(knownClient({ permissions: 0x400n }));
    expect(await shut.reader.open(ids.general)).toBeUndefined();
    expect(shut.lines).toEqual(["debug: the bot may not read what was said in a place"]);
    expect(lines).toEqual([]);
  });

  it("of a place that is not known is asked for, and a refusal is the caller's", async () => {
    const { reader: opens, client } = reader();
    const channel = {
      id: "300000000000000009",
      type: 0,
      guild_id: ids.guild,
      name: "mills",
      permission_overwrites: [],
    };
    const get = vi.spyOn(client.rest, "get").mockResolvedValueOnce(channel).mockRejectedValueOnce(refusal(10003));
    expect(await opens.open("300000000000000009")).toMatchObject({ id: "300000000000000009" });
    await expect(opens.open("300000000000000008")).rejects.toMatchObject({ code: 10003 });
    expect(get.mock.calls.map(([route]) => route)).toEqual([
      "/channels/300000000000000009",
      "/channels/300000000000000008",
    ]);
  });

  it("is read page by page, the newest first, and kept nowhere", async () => {
    const { reader: opens, client } = reader();
    const get = vi.spyOn(client.rest, "get").mockResolvedValue([stored(2), stored(3), stored(1)]);
    const channel = await opens.open(ids.general);
    if (!channel) throw new Error("it is known");
    const page = await opens.page(channel, "600000000000000009");
    expect(page.map(({ content }) => content)).toEqual(["3", "2", "1"]);
    expect(channel.messages.cache.size).toBe(0);
    const [, options] = get.mock.calls[0] ?? [];
    expect(String(options?.query)).toBe(`limit=${pageSize}&before=600000000000000009`);
  });
});
