import { type Client, GatewayDispatchEvents, type GatewayDispatchPayload, type Message, Status } from "discord.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Continuity } from "../../src/discord/continuity.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { Streams } from "../../src/discord/streams.ts";
import { guildPlace } from "../../src/discord/whereabouts.ts";
import { knownMemory } from "./support/known-memory.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

const packet = (t: GatewayDispatchEvents, d: object) => ({ op: 0, s: 1, t, d }) as unknown as GatewayDispatchPayload;
const began = packet(GatewayDispatchEvents.Ready, { guilds: [{ id: ids.guild }] });

function continuity({ catchesUp = true, goesOn = (): boolean => true } = {}) {
  const client = knownClient() as Client<true>;
  client.ws.shards.set(0, { status: Status.Ready } as never);
  Object.assign(client.guilds.cache.get(ids.guild) ?? {}, { shardId: 0, available: true });
  const { log, lines } = logLines();
  const memory = knownMemory();
  const streams = new Streams(log);
  const heard: string[] = [];
  const whole = new Continuity({
    client,
    memory,
    streams,
    budget: new RequestBudget(),
    catchUp: catchesUp ? { hours: 24, messages: 200, since: undefined } : undefined,
    allowedBots: new Set<string>(),
    sessionAsked: ({ channelId }) => `discord:${channelId}`,
    hear: ({ content }: Message) => void heard.push(content),
    goesOn,
    log,
  });
  return { client, memory, streams, heard, lines, continuity: whole };
}

describe("a connection that begins anew", () => {
  it("holds what is said until what was missed is heard, and is whole then", async () => {
    const { client, continuity: whole, streams, heard, lines } = continuity();
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    expect(heard).toEqual([]);
    whole.ready(client, 0);
    expect(whole.isWhole()).toBe(false);
    await streams.idle();
    expect(heard).toEqual(["live"]);
    expect(whole.isWhole()).toBe(true);
    expect(lines).toEqual(["info: caught up with what was said meanwhile"]);
  });

  it("is looked after once, and one that was resumed not at all", async () => {
    const { client, continuity: whole, streams, lines } = continuity();
    whole.learn(began, 0);
    whole.ready(client, 0);
    whole.ready(client, 0);
    whole.learn(packet(GatewayDispatchEvents.Resumed, {}), 0);
    whole.ready(client, 0);
    await streams.idle();
    expect(lines).toHaveLength(1);
  });

  it("holds nothing for what has only to be forgotten", async () => {
    const { client, continuity: whole, streams, memory, heard, lines } = continuity();
    const left = guildPlace(ids.bot, "200000000000000009");
    memory.places.mockImplementation(async (prefix) => [left].filter((place) => place.startsWith(prefix)));
    memory.forgetPlace.mockImplementation(async () => {
      expect(heard).toEqual(["live"]);
      return 4;
    });
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    whole.ready(client, 0);
    await streams.idle();
    expect(memory.forgetPlace.mock.calls).toEqual([[left]]);
    expect(lines.at(-1)).toBe("info: what was left or deleted meanwhile is forgotten");
  });

  it("and does so once more before it was looked after, holds what is said until then", async () => {
    const { client, continuity: whole, streams, memory, heard } = continuity();
    let goOn = (_: readonly string[]) => {};
    memory.sessionsIn.mockImplementationOnce(() => new Promise((resolve) => (goOn = resolve)));
    whole.learn(began, 0);
    whole.ready(client, 0);
    await vi.waitUntil(() => memory.sessionsIn.mock.calls.length === 1);
    const shard = client.ws.shards.get(0) as { status: Status };
    shard.status = Status.WaitingForGuilds;
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    goOn([]);
    await streams.idle();
    expect(heard).toEqual([]);
    expect(whole.isWhole()).toBe(false);
    shard.status = Status.Ready;
    whole.ready(client, 0);
    await streams.idle();
    expect(heard).toEqual(["live"]);
    expect(whole.isWhole()).toBe(true);
  });

  it("and breaks off before it was looked after, is looked after when it stands again", async () => {
    vi.useFakeTimers();
    const { client, continuity: whole, streams, lines } = continuity();
    const shard = client.ws.shards.get(0) as { status: Status };
    whole.learn(began, 0);
    whole.ready(client, 0);
    shard.status = Status.Connecting;
    await streams.idle();
    await vi.advanceTimersByTimeAsync(1_000);
    await streams.idle();
    expect(lines).toEqual([]);
    shard.status = Status.Ready;
    expect(whole.isWhole()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await streams.idle();
    vi.useRealTimers();
    expect(lines).toEqual(["info: caught up with what was said meanwhile"]);
    expect(whole.isWhole()).toBe(true);
  });

  it("is not looked after when the bot is about to end, and nothing of the store is touched any more", async () => {
    let goesOn = true;
    const { client, continuity: whole, streams, memory, lines } = continuity({ goesOn: () => goesOn });
    memory.sessionsIn.mockImplementationOnce(async () => {
      goesOn = false;
      return [];
    });
    whole.learn(began, 0);
    whole.ready(client, 0);
    await streams.idle();
    whole.learn(began, 0);
    whole.ready(client, 0);
    await streams.idle();
    expect([memory.sessionsIn, memory.places].map(({ mock }) => mock.calls.length)).toEqual([2, 0]);
    expect(lines).toEqual([]);
  });

  it("holds nothing where nothing is caught up with", async () => {
    const { client, continuity: whole, streams, heard, lines } = continuity({ catchesUp: false });
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    whole.ready(client, 0);
    await streams.idle();
    expect([heard, lines]).toEqual([["live"], []]);
  });
});

describe("whoever waits for it to be caught up with", () => {
  it("goes on when it is, or after as long as live messages wait", async () => {
    vi.useFakeTimers();
    const { client, continuity: whole, memory } = continuity();
    await whole.caughtUp();
    memory.sessionsIn.mockImplementationOnce(() => new Promise(() => {}));
    whole.learn(began, 0);
    whole.ready(client, 0);
    let goesOn = false;
    void whole.caughtUp().then(() => {
      goesOn = true;
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(goesOn).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(goesOn).toBe(true);
    vi.useRealTimers();
  });
});

describe("catching up that fails", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("lets everything through, and is tried again; until then not everything was heard", async () => {
    const { client, continuity: whole, streams, memory, heard, lines } = continuity();
    memory.sessionsIn.mockRejectedValueOnce(new Error("the store is down"));
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    whole.ready(client, 0);
    await streams.idle();
    expect(heard).toEqual(["live"]);
    expect(lines).toEqual(["error: what was said meanwhile could not be caught up with"]);
    expect(whole.isWhole()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await streams.idle();
    expect(lines.slice(1)).toEqual(["info: caught up with what was said meanwhile"]);
    expect(whole.isWhole()).toBe(true);
  });

  it("in one place is tried again there, some times", async () => {
    const { client, continuity: whole, streams, memory, lines } = continuity();
    memory.sessionsIn.mockImplementation(async (place) =>
      place === guildPlace(ids.bot, ids.guild) ? [`discord:${ids.ownThread}`, `discord:${ids.post}`] : [],
    );
    const asked: string[] = [];
    vi.spyOn(client.rest, "get").mockImplementation(async (route) => {
      const [, , id = ""] = String(route).split("/");
      asked.push(id);
      if (id === ids.ownThread) throw refusal(0, 500);
      return [];
    });
    whole.learn(began, 0);
    whole.ready(client, 0);
    await streams.idle();
    expect(asked).toEqual([ids.ownThread, ids.post]);
    for (const waitMs of [1_000, 5_000, 25_000, 125_000]) {
      expect(whole.isWhole()).toBe(false);
      await vi.advanceTimersByTimeAsync(waitMs);
      await streams.idle();
    }
    expect(asked.slice(2)).toEqual(Array(4).fill(ids.ownThread));
    expect(lines.at(-1)).toBe("error: what was said meanwhile is given up");
    expect(whole.isWhole()).toBe(true);
  });
});

describe("a server that is out", () => {
  const out = packet(GatewayDispatchEvents.GuildDelete, { id: ids.guild, unavailable: true });
  const guild = { id: ids.guild, shardId: 0 };

  it("is caught up with when it is there again, and nothing of it is forgotten", async () => {
    const { client, continuity: whole, streams, memory, heard, lines } = continuity();
    whole.learn(out, 0);
    whole.available(client, guild);
    whole.pass(delivered(client, ids.ownThread, "live"));
    expect(heard).toEqual([]);
    await streams.idle();
    expect(heard).toEqual(["live"]);
    expect(lines).toEqual(["info: caught up with what was said meanwhile"]);
    expect([memory.forgetPlace, memory.places].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    whole.available(client, guild);
    await streams.idle();
    expect(lines).toHaveLength(1);
  });

  it("when its connection begins is caught up with when it comes", async () => {
    const { client, continuity: whole, streams, lines } = continuity();
    (client.guilds.cache.get(ids.guild) as { available: boolean }).available = false;
    whole.learn(began, 0);
    whole.ready(client, 0);
    await streams.idle();
    whole.available(client, guild);
    await streams.idle();
    expect(lines).toHaveLength(2);
  });
});

describe("everything was heard", () => {
  it("only while every connection stands", () => {
    const { client, continuity: whole } = continuity();
    expect(whole.isWhole()).toBe(true);
    client.ws.shards.set(1, { status: Status.Resuming } as never);
    expect(whole.isWhole()).toBe(false);
  });
});

describe("a deletion", () => {
  it("takes what is held with it, and reaches what is remembered; a failure there is told", async () => {
    const { client, continuity: whole, streams, memory, heard, lines } = continuity();
    whole.learn(began, 0);
    const message = delivered(client, ids.ownThread, "never mind");
    whole.pass(message);
    memory.erase.mockRejectedValueOnce(new Error("the store is down"));
    whole.learn(packet(GatewayDispatchEvents.MessageDelete, { id: message.id, channel_id: ids.ownThread }), 0);
    whole.ready(client, 0);
    await streams.idle();
    expect(heard).toEqual([]);
    expect(memory.erase.mock.calls).toEqual([[[message.id]]]);
    expect(lines).toContain("error: what happened on Discord did not reach what is remembered");
    vi.restoreAllMocks();
  });
});

describe("a place that is deleted", () => {
  it("takes along what is held in it", async () => {
    const { client, continuity: whole, streams, heard } = continuity();
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "in a thread"));
    whole.pass(delivered(client, ids.general, "in a channel"));
    whole.pass(delivered(client, ids.voice, "elsewhere"));
    whole.learn(packet(GatewayDispatchEvents.ThreadDelete, { id: ids.ownThread }), 0);
    whole.learn(packet(GatewayDispatchEvents.ChannelDelete, { id: ids.general }), 0);
    whole.ready(client, 0);
    await streams.idle();
    expect(heard).toEqual(["elsewhere"]);
  });
});
