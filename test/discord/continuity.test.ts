import { type Client, GatewayDispatchEvents, type GatewayDispatchPayload, type Message, Status } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import { Continuity } from "../../src/discord/continuity.ts";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { Streams } from "../../src/discord/streams.ts";
import { knownMemory } from "./support/known-memory.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";

const packet = (t: GatewayDispatchEvents, d: object) => ({ op: 0, s: 1, t, d }) as unknown as GatewayDispatchPayload;
const began = packet(GatewayDispatchEvents.Ready, { guilds: [{ id: ids.guild }] });

function continuity({ catchesUp = true } = {}) {
  const client = knownClient() as Client<true>;
  client.ws.shards.set(0, { status: Status.Ready } as never);
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
    isUnanswered: () => true,
    hear: ({ content }: Message) => void heard.push(content),
    goesOn: () => true,
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

  it("whose catching up fails lets everything through", async () => {
    const { client, continuity: whole, streams, memory, heard, lines } = continuity();
    memory.places.mockRejectedValueOnce(new Error("the store is down"));
    whole.learn(began, 0);
    whole.pass(delivered(client, ids.ownThread, "live"));
    whole.ready(client, 0);
    await streams.idle();
    expect(heard).toEqual(["live"]);
    expect(lines).toEqual(["error: what was said meanwhile could not be caught up with"]);
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
