import type { Client, Message } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import type { Memory } from "../../src/conversation/memory.ts";
import { catchUp } from "../../src/discord/catch-up.ts";
import { LiveGate } from "../../src/discord/live-gate.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { firstIdAt } from "../../src/discord/snowflake.ts";
import { directPlace, guildPlace } from "../../src/discord/whereabouts.ts";
import { knownMemory } from "./support/known-memory.ts";
import { ids, knownClient, people } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

const now = Date.now();
/** An id of so many seconds ago. */
const ago = (seconds: number, more = 0) => (BigInt(firstIdAt(now - seconds * 1000)) + BigInt(more)).toString();

interface Room {
  /** Messages by channel, as [id, content]; `undefined`: the channel is gone; `"fails"`: Discord can't say. */
  readonly messages: Readonly<Record<string, readonly (readonly [string, string])[] | "fails" | undefined>>;
  readonly knows?: Partial<Memory>;
  readonly most?: number;
  readonly hours?: number;
  readonly shard?: number;
  readonly since?: Date | undefined;
  readonly only?: string;
  /** What an earlier try left. */
  readonly channels?: readonly string[];
  readonly goesOn?: () => boolean;
  /** What messages say after their page was read; `undefined`: Discord can't say. */
  readonly edits?: Readonly<Record<string, string | undefined>>;
}

/** Runs a catch-up on a world of which the newest message of each channel is known, and tells what was heard. */
async function caughtUp(room: Room) {
  const { messages, knows, most = 200, hours = 24, shard = 0, only, channels, goesOn = () => true } = room;
  const since = "since" in room ? room.since : new Date(now - 600_000);
  const client = knownClient() as Client<true>;
  client.ws.shards.set(0, {} as never);
  const guild = client.guilds.cache.get(ids.guild) as { shardId: number; available: boolean };
  guild.shardId = 0;
  for (const [id, said] of Object.entries(messages)) {
    const channel = client.channels.cache.get(id);
    if (channel && Array.isArray(said)) Object.assign(channel, { lastMessageId: said.at(-1)?.[0] ?? null });
  }
  const read: string[] = [];
  vi.spyOn(client.rest, "get").mockImplementation(async (route) => {
    const [, , id = "", , one] = String(route).split("/");
    if (one !== undefined) {
      const better = room.edits?.[one];
      if (better === undefined) throw refusal(0, 500);
      return stored(one, id, better);
    }
    read.push(id);
    for (const edited of Object.keys(room.edits ?? {})) gate.reword(edited);
    const said = messages[id];
    if (!said) throw refusal(10003);
    if (said === "fails") throw refusal(0, 500);
    return said.map(([message, content]) => stored(message, id, content));
  });
  const memory = knownMemory(knows);
  const gate = new LiveGate();
  const hold = gate.hold(60_000);
  const heard: string[] = [];
  const { log, lines } = logLines();
  const plan = {
    client,
    memory,
    budget: new RequestBudget(),
    hold,
    limits: { hours, messages: most },
    sessionAsked: ({ content, channel, id }: Message) => {
      const thread = channel.isThread() || channel.isDMBased() ? channel.id : id;
      return content === "ignored" ? undefined : `discord:${thread}`;
    },
    hear: (message: Message) => void heard.push(message.content),
    goesOn,
    log,
  };
  const part = { ...(only && { only }), ...(channels && { channels }) };
  const unread = await catchUp(plan, { shard, since, guilds: [ids.guild], ...part });
  hold.release();
  return { heard, read, lines, memory, unread };
}

function stored(id: string, channel_id: string, content: string): object {
  const lists = { mentions: [], mention_roles: [], attachments: [], embeds: [] };
  return { id, channel_id, type: 0, author: people.ada, content, timestamp: "2026-01-01T00:00:00Z", ...lists };
}

const knowing =
  (...channels: string[]): Memory["sessionsIn"] =>
  async (place) =>
    place === guildPlace(ids.bot, ids.guild) ? channels.map((channel) => `discord:${channel}`) : [];

describe("what was missed", () => {
  it("is heard in the order in which it was said, wherever it was", async () => {
    const { heard, lines } = await caughtUp({
      messages: {
        [ids.general]: [
          [ago(800), "before"],
          [ago(300), "2"],
          [ago(100), "4"],
        ],
        [ids.ownThread]: [
          [ago(400), "1"],
          [ago(200), "3"],
          [ago(50), "ignored"],
        ],
      },
      knows: { sessionsIn: knowing(ids.ownThread) },
    });
    expect(heard).toEqual(["1", "2", "3", "4"]);
    expect(lines.at(-1)).toBe("info: caught up with what was said meanwhile");
  });

  it("is looked for in channels with anything new since, in open threads, and in every known conversation", async () => {
    const { read } = await caughtUp({
      messages: {
        [ids.general]: [[ago(800), "old"]],
        [ids.voice]: [[ago(10), "new"]],
        [ids.post]: [[ago(20), "new"]],
        [ids.ownThread]: [[ago(70_000), "old"]],
        [ids.direct]: [],
      },
      knows: {
        sessionsIn: async (place) => {
          if (place === directPlace(ids.bot)) return [`discord:${ids.direct}`];
          return place === guildPlace(ids.bot, ids.guild) ? [`discord:${ids.ownThread}`, "somebody-else's"] : [];
        },
      },
    });
    expect(read.sort()).toEqual([ids.voice, ids.post, ids.ownThread, ids.direct].sort());
  });

  it("is looked for in known conversations alone if nobody was ever there, and not at all with 0 hours", async () => {
    const messages = { [ids.general]: [[ago(10), "new"]], [ids.ownThread]: [[ago(10), "newer"]] } as const;
    const knows = { sessionsIn: knowing(ids.ownThread) };
    expect((await caughtUp({ messages, knows, since: undefined })).heard).toEqual(["newer"]);
    expect((await caughtUp({ messages, knows, hours: 0 })).read).toEqual([]);
  });

  it("is on the connection that began anew; direct conversations are on the first", async () => {
    const { read, memory } = await caughtUp({ messages: { [ids.general]: [[ago(10), "new"]] }, shard: 1 });
    expect(read).toEqual([]);
    expect(memory.sessionsIn).not.toHaveBeenCalled();
  });

  it("is in one server alone, if only that was out", async () => {
    const messages = { [ids.general]: [[ago(10), "new"]] } as const;
    const direct: string[] = [];
    const sessionsIn = async (place: string) => {
      direct.push(place);
      return [];
    };
    expect((await caughtUp({ messages, knows: { sessionsIn }, only: ids.guild })).heard).toEqual(["new"]);
    expect(direct).toEqual([guildPlace(ids.bot, ids.guild)]);
    expect((await caughtUp({ messages, only: "200000000000000009" })).heard).toEqual([]);
  });

  it("is not more than the bound, and fairly shared", async () => {
    const noise = Array.from({ length: 60 }, (_, number) => [ago(300, number), `noise ${number}`] as const);
    const { heard } = await caughtUp({
      messages: { [ids.general]: noise, [ids.ownThread]: [[ago(200), "a word"]] },
      knows: { sessionsIn: knowing(ids.ownThread) },
      most: 3,
    });
    expect(heard).toEqual(["noise 58", "noise 59", "a word"]);
    const all = await caughtUp({ messages: { [ids.general]: noise } });
    expect(all.heard).toHaveLength(40);
  });

  it("is heard as it is by then, also if it was edited since its page was read", async () => {
    const [one, two, three] = [ago(30), ago(20), ago(10)];
    const said = [
      [one, "first"],
      [two, "secnod"],
      [three, "third"],
    ] as const;
    const edits = { [two]: "second", [three]: undefined };
    const { heard } = await caughtUp({ messages: { [ids.general]: said }, edits });
    expect(heard).toEqual(["first", "second", "third"]);
  });

  it("is no call whose thread was deleted", async () => {
    const call = ago(100);
    const { heard, memory } = await caughtUp({
      messages: { [ids.general]: [[call, "answered in a thread"]], [call]: undefined },
      knows: { sessionsIn: knowing(call) },
    });
    expect(heard).toEqual([]);
    expect(memory.forget.mock.calls).toEqual([[`discord:${call}`]]);
  });

  it("in a place that can't be read now is told to be left, and can be looked for alone", async () => {
    const knows = { sessionsIn: knowing(ids.ownThread, ids.post) };
    const messages = { [ids.ownThread]: "fails", [ids.post]: [[ago(10), "new"]] } as const;
    const { heard, unread } = await caughtUp({ messages, knows });
    expect([heard, unread]).toEqual([["new"], [ids.ownThread]]);
    const again = await caughtUp({
      messages: { ...messages, [ids.ownThread]: [[ago(20), "at last"]] },
      knows,
      channels: unread,
    });
    expect([again.heard, again.unread]).toEqual([["at last"], []]);
  });

  it("is left when the bot is about to end", async () => {
    const { heard, read } = await caughtUp({ messages: { [ids.general]: [[ago(9), "new"]] }, goesOn: () => false });
    expect([heard, read]).toEqual([[], []]);
  });
});
