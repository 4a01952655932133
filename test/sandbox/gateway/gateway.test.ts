import {
  GatewayCloseCodes,
  GatewayDispatchEvents,
  GatewayIntentBits,
  GatewayOpcodes,
  MessageType,
  Routes,
} from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";
import { RawGateway, usualIntents } from "../support/raw-gateway.ts";
import { expectNothingUncaught } from "../support/uncaught.ts";

const { Guilds, GuildMessages, GuildMembers, DirectMessages, MessageContent } = GatewayIntentBits;

describe("the gateway", () => {
  expectNothingUncaught();
  let sandbox: Sandbox;
  let unknown: string[];
  beforeEach(async () => {
    unknown = [];
    sandbox = await startSandbox({ limits: false, onUnknown: (what) => unknown.push(what) });
  });
  afterEach(() => sandbox.close());

  const connect = () => new RawGateway(sandbox);

  it("says HELLO, and after IDENTIFY is READY and tells of each server with what is in it", async () => {
    const asked = sandbox.owner.says("general", "x");
    sandbox.owner.opensThread(asked, "Open");
    sandbox.owner.archives(sandbox.owner.opensThread(sandbox.owner.says("general", "y"), "Closed"));
    const gateway = connect();
    await gateway.identify();
    expect((await gateway.operation(GatewayOpcodes.Hello)).d.heartbeat_interval).toBe(41_250);
    const ready = await gateway.event(GatewayDispatchEvents.Ready);
    expect(ready).toMatchObject({
      user: { id: sandbox.bot.id },
      guilds: [{ id: sandbox.guild.id, unavailable: true }],
    });
    expect(ready.resume_gateway_url).toMatch(/^ws:\/\/127\.0\.0\.1:/);
    const guild = await gateway.event(GatewayDispatchEvents.GuildCreate);
    expect(guild).toMatchObject({
      name: "Sandbox",
      channels: [{ name: "general" }],
      threads: [{ id: asked.id, name: "Open" }],
    });
    expect(guild.members).toHaveLength(2);
    expect(sandbox.counters).toMatchObject({ connections: 1, identifies: 1, resumes: 0 });
  });

  it("acknowledges heartbeats and closes on who sends none", async () => {
    const impatient = await startSandbox({ heartbeatMs: 20 });
    const gateway = new RawGateway(impatient);
    await gateway.hello();
    gateway.send(GatewayOpcodes.Heartbeat, null);
    await gateway.operation(GatewayOpcodes.HeartbeatAck);
    expect(await gateway.closed).toBe(GatewayCloseCodes.SessionTimedOut);
    await impatient.close();
  });

  describe("closes with", () => {
    it("4002 on frames that are not of the protocol's shape", async () => {
      for (const frame of [
        "",
        "{",
        "null",
        "[]",
        "1",
        "{}",
        '{"op":"2"}',
        '{"op":{"toString":1}}',
        `{"op":"${"x".repeat(200)}"}`,
        '{"op":2}',
        '{"op":2,"d":null}',
        '{"op":2,"d":{"token":1,"intents":1}}',
        '{"op":6,"d":null}',
        '{"op":6,"d":{"token":"x","session_id":1,"seq":1}}',
        '{"op":6,"d":{"token":"x","session_id":"x","seq":null}}',
      ]) {
        const gateway = await connect().hello();
        gateway.raw(frame);
        expect(await gateway.closed, frame).toBe(GatewayCloseCodes.DecodeError);
      }
    });

    it("the first thing that is wrong, and hears nothing after it", async () => {
      const gateway = await connect().hello();
      gateway.raw("null");
      await gateway.identify();
      expect(await gateway.closed).toBe(GatewayCloseCodes.DecodeError);
      expect(sandbox.counters.identifies).toBe(0);
    });

    it("4004 on a bad token, at IDENTIFY and at RESUME", async () => {
      const first = await connect().identify(usualIntents, "wrong");
      expect(await first.closed).toBe(GatewayCloseCodes.AuthenticationFailed);
      const second = await connect().resume("x", 1, "wrong");
      expect(await second.closed).toBe(GatewayCloseCodes.AuthenticationFailed);
    });

    it("4014 on an intent that is not switched on", async () => {
      const members = await connect().identify(Guilds | GuildMembers);
      expect(await members.closed).toBe(GatewayCloseCodes.DisallowedIntents);
      const giveBack = sandbox.faults.refuseIntent("MessageContent");
      const content = await connect().identify();
      expect(await content.closed).toBe(GatewayCloseCodes.DisallowedIntents);
      giveBack();
      await connect().ready();
    });

    it("4013, 4005, 4002 and 4001 on what makes no sense", async () => {
      const intents = await connect().identify(Number.NaN);
      expect(await intents.closed).toBe(GatewayCloseCodes.InvalidIntents);
      const twice = await connect().identify();
      await twice.identify();
      expect(await twice.closed).toBe(GatewayCloseCodes.AlreadyAuthenticated);
      const garbled = await connect().hello();
      garbled.raw("{");
      expect(await garbled.closed).toBe(GatewayCloseCodes.DecodeError);
      const strange = await connect().hello();
      strange.send(GatewayOpcodes.RequestGuildMembers, {});
      expect(await strange.closed).toBe(GatewayCloseCodes.UnknownOpcode);
      expect(unknown).toEqual(["gateway operation 8"]);
    });
  });

  describe("RESUME", () => {
    it("replays what was missed, in order, and then is RESUMED", async () => {
      const first = connect();
      const session = await first.ready();
      sandbox.owner.says("general", "heard");
      const { s: seen = 0 } = await first.first(({ t }) => t === GatewayDispatchEvents.MessageCreate);
      first.terminate();
      await first.closed;
      sandbox.owner.says("general", "missed");
      sandbox.owner.says("general", "missed too");
      const second = await connect().resume(session, seen);
      await second.event(GatewayDispatchEvents.Resumed);
      expect(second.received.slice(1).map(({ t, s, d }) => [t, s, d.content])).toEqual([
        ["MESSAGE_CREATE", seen + 1, "missed"],
        ["MESSAGE_CREATE", seen + 2, "missed too"],
        ["RESUMED", seen + 3, undefined],
      ]);
      sandbox.owner.says("general", "live again");
      await second.first(({ d }) => d?.content === "live again");
      expect(sandbox.counters).toMatchObject({ identifies: 1, resumes: 1 });
    });

    it("takes the session over from a connection that is still there", async () => {
      const first = connect();
      const session = await first.ready();
      const second = await connect().resume(session, 1);
      await second.event(GatewayDispatchEvents.Resumed);
      expect(await first.closed).toBe(4000);
      sandbox.owner.says("general", "x");
      await second.event(GatewayDispatchEvents.MessageCreate);
    });

    it("of an unknown, ended or forgotten session meets INVALID_SESSION, and nothing is replayed", async () => {
      const made = await connect().resume("made-up", 1);
      expect((await made.operation(GatewayOpcodes.InvalidSession)).d).toBe(false);
      const ended = connect();
      const session = await ended.ready();
      await ended.goodbye();
      const back = await connect().resume(session, 1);
      expect((await back.operation(GatewayOpcodes.InvalidSession)).d).toBe(false);
      const dropped = connect();
      const other = await dropped.ready();
      sandbox.faults.dropSockets({ resumable: false });
      await dropped.closed;
      const third = await connect().resume(other, 1);
      expect((await third.operation(GatewayOpcodes.InvalidSession)).d).toBe(false);
      expect(third.events).toEqual([]);
    });

    it("with a sequence that never was closes with 4007", async () => {
      const first = connect();
      const session = await first.ready();
      const second = await connect().resume(session, 999);
      expect(await second.closed).toBe(GatewayCloseCodes.InvalidSeq);
    });
  });

  describe("tells", () => {
    it("only what the intents ask for", async () => {
      const few = connect();
      await few.ready(Guilds);
      const many = connect();
      await many.ready();
      sandbox.owner.types("general");
      sandbox.owner.says("general", "x");
      sandbox.owner.says(sandbox.directMessages(sandbox.owner), "y");
      sandbox.member("Ben");
      sandbox.createChannel("new");
      await Promise.all([few.settle(), many.settle()]);
      expect(few.events.slice(2)).toEqual(["CHANNEL_CREATE"]);
      expect(many.events.slice(2)).toEqual(["TYPING_START", "MESSAGE_CREATE", "MESSAGE_CREATE", "CHANNEL_CREATE"]);
    });

    it("words only where the bot is meant, without MESSAGE_CONTENT", async () => {
      sandbox.faults.refuseIntent("MessageContent");
      const gateway = connect();
      await gateway.ready(Guilds | GuildMessages | DirectMessages);
      const secret = sandbox.owner.says("general", "secret", { attachments: [{ name: "x.txt", content: "x" }] });
      sandbox.owner.mentions(sandbox.bot, "for you");
      sandbox.owner.says(sandbox.directMessages(sandbox.owner), "direct");
      const own = { body: { content: "own", message_reference: { message_id: secret.id } } };
      await botRest(sandbox).post(Routes.channelMessages(sandbox.general.id), own);
      await gateway.settle();
      const told = gateway.received.filter(({ t }) => t === "MESSAGE_CREATE").map(({ d }) => d);
      expect(told.map(({ content }) => content)).toEqual(["", `<@${sandbox.bot.id}> for you`, "direct", "own"]);
      expect([told[0].attachments, told[3].referenced_message.content]).toEqual([[], ""]);
      const fetched = await botRest(sandbox).get(Routes.channelMessage(sandbox.general.id, secret.id));
      expect(fetched).toMatchObject({ content: "" });
    });

    it("a DM with its channel's type and without a server", async () => {
      const gateway = connect();
      await gateway.ready();
      sandbox.owner.says(sandbox.directMessages(sandbox.owner), "hello");
      const message = await gateway.event(GatewayDispatchEvents.MessageCreate);
      expect(message).toMatchObject({ channel_type: 1, content: "hello", author: { global_name: "Ada" } });
      for (const absent of ["guild_id", "member", "thread"]) expect(message).not.toHaveProperty(absent);
    });

    it("a message with its author's membership and who is mentioned", async () => {
      const gateway = connect();
      await gateway.ready();
      const role = sandbox.createRole("Crew", { mentionable: true });
      const ben = sandbox.member("Ben", { roles: ["Crew"] });
      ben.says("general", "@Threadkeeper @Crew @everyone look");
      const message = await gateway.event(GatewayDispatchEvents.MessageCreate);
      expect(message).toMatchObject({
        guild_id: sandbox.guild.id,
        member: { roles: [role.id] },
        mentions: [{ id: sandbox.bot.id, member: { roles: [expect.any(String)] } }],
        mention_roles: [role.id],
        mention_everyone: true,
      });
    });

    it("of a link preview as an update that nobody made", async () => {
      const gateway = connect();
      await gateway.ready();
      sandbox.owner.says("general", "see https://example.com/x");
      const created = await gateway.event(GatewayDispatchEvents.MessageCreate);
      const updated = await gateway.event(GatewayDispatchEvents.MessageUpdate);
      expect(created.embeds).toEqual([]);
      expect(updated).toMatchObject({ edited_timestamp: null, embeds: [{ url: "https://example.com/x" }] });
    });

    it("of deletions by id only", async () => {
      const gateway = connect();
      await gateway.ready();
      const messages = ["a", "b", "c"].map((text) => sandbox.owner.says("general", text));
      sandbox.owner.deletes(messages[0] as never);
      sandbox.faults.deleteMessages(messages.slice(1));
      const where = { channel_id: sandbox.general.id, guild_id: sandbox.guild.id };
      expect(await gateway.event(GatewayDispatchEvents.MessageDelete)).toEqual({ id: messages[0]?.id, ...where });
      const bulk = await gateway.event(GatewayDispatchEvents.MessageDeleteBulk);
      expect(bulk).toEqual({ ids: messages.slice(1).map(({ id }) => id), ...where });
    });

    it("of a thread on a message: the thread, the mark on its message, its starter line", async () => {
      const gateway = connect();
      await gateway.ready();
      const asked = sandbox.owner.says("general", "plans?");
      sandbox.owner.renames(sandbox.owner.opensThread(asked, "Plans"), "Better plans");
      sandbox.owner.archives("Better plans");
      sandbox.faults.deleteChannel("Better plans");
      await gateway.settle();
      const told = gateway.received.filter(({ t }) => t).slice(2);
      expect(told.map(({ t, d }) => [t, d.newly_created ?? d.type])).toEqual([
        ["MESSAGE_CREATE", MessageType.Default],
        ["THREAD_CREATE", true],
        ["MESSAGE_UPDATE", MessageType.Default],
        ["MESSAGE_CREATE", MessageType.ThreadStarterMessage],
        ["THREAD_UPDATE", 11],
        ["MESSAGE_CREATE", MessageType.ChannelNameChange],
        ["THREAD_UPDATE", 11],
        ["THREAD_DELETE", 11],
      ]);
    });

    it("nothing of a private thread before the bot is called into it", async () => {
      const gateway = connect();
      await gateway.ready();
      const thread = sandbox.owner.opensThread("general", "Private", { isPrivate: true });
      sandbox.owner.says(thread, "secret");
      await gateway.settle();
      expect(gateway.events.slice(2)).toEqual([]);
      sandbox.owner.says(thread, "@Threadkeeper come in");
      const created = await gateway.event(GatewayDispatchEvents.ThreadCreate);
      expect(created).toMatchObject({ id: thread.id, member: { user_id: sandbox.bot.id } });
      expect(created).not.toHaveProperty("newly_created");
      await gateway.event(GatewayDispatchEvents.MessageCreate);
      expect(gateway.events.slice(2)).toEqual(["THREAD_CREATE", "THREAD_MEMBERS_UPDATE", "MESSAGE_CREATE"]);
    });

    it("nothing of a channel that isn't seen, and of its threads when it comes into sight", async () => {
      const asked = sandbox.owner.says("general", "plans?");
      sandbox.owner.opensThread(asked, "Plans");
      const giveBack = sandbox.faults.takeAway("ViewChannel");
      const gateway = connect();
      await gateway.ready();
      sandbox.owner.says("general", "unseen");
      sandbox.owner.says("Plans", "unseen");
      sandbox.owner.opensThread(sandbox.owner.says("general", "x"), "Unseen");
      await gateway.settle();
      expect((await gateway.event(GatewayDispatchEvents.GuildCreate)).threads).toEqual([]);
      expect(gateway.events.slice(2)).toEqual([]);
      giveBack();
      const sync = await gateway.event(GatewayDispatchEvents.ThreadListSync);
      expect(sync).toMatchObject({
        channel_ids: [sandbox.general.id],
        threads: [{ name: "Unseen" }, { name: "Plans" }],
        members: [],
      });
    });

    it("of its own roles without, and of others with the intent for members", async () => {
      const other = await startSandbox({ intents: ["MessageContent", "GuildMembers"] });
      const with_ = new RawGateway(other);
      await with_.ready(Guilds | GuildMembers);
      const without = new RawGateway(other);
      await without.ready(Guilds);
      other.member("Ben", { roles: ["Crew"] });
      other.member("Threadkeeper", { roles: ["Crew"] });
      await Promise.all([with_.settle(), without.settle()]);
      expect(without.events.slice(2)).toEqual(["GUILD_ROLE_CREATE", "GUILD_MEMBER_UPDATE"]);
      expect(with_.events.slice(2)).toEqual([
        "GUILD_MEMBER_ADD",
        "GUILD_ROLE_CREATE",
        "GUILD_MEMBER_UPDATE",
        "GUILD_MEMBER_UPDATE",
      ]);
      await other.close();
    });

    it("of an outage as a server that is unavailable, of nothing in it, and of its return", async () => {
      const gateway = connect();
      await gateway.ready();
      const end = sandbox.faults.outage();
      sandbox.owner.says("general", "unheard");
      end();
      await gateway.settle();
      expect(gateway.received.slice(3, 5).map(({ t, d }) => [t, d.unavailable])).toEqual([
        ["GUILD_DELETE", true],
        ["GUILD_CREATE", false],
      ]);
      expect(gateway.events).not.toContain("MESSAGE_CREATE");
    });

    it("of a server that it has left or joined", async () => {
      const gateway = connect();
      await gateway.ready();
      sandbox.faults.removeBot(sandbox.guild);
      expect(await gateway.event(GatewayDispatchEvents.GuildDelete)).toEqual({ id: sandbox.guild.id });
      sandbox.owner.says("general", "unheard");
      sandbox.createChannel("unseen");
      const other = sandbox.createGuild("Other");
      await gateway.first(({ t, d }) => t === "CHANNEL_CREATE" && d.guild_id === other.id);
      expect(gateway.events.slice(2)).toEqual(["GUILD_DELETE", "GUILD_CREATE", "CHANNEL_CREATE"]);
    });

    it("every connection of the same bot the same", async () => {
      const gateways = [connect(), connect()];
      for (const gateway of gateways) await gateway.ready();
      const { id } = sandbox.owner.says("general", "x");
      for (const gateway of gateways) expect((await gateway.event(GatewayDispatchEvents.MessageCreate)).id).toBe(id);
    });

    it("a message once more when a fault says so", async () => {
      const gateway = connect();
      await gateway.ready(Guilds | GuildMessages | MessageContent);
      sandbox.faults.redeliver(sandbox.owner.says("general", "x"));
      await gateway.settle();
      expect(gateway.received.filter(({ t }) => t === "MESSAGE_CREATE").map(({ d }) => d.content)).toEqual(["x", "x"]);
    });
  });
});
