import { type Client, DiscordjsErrorCodes, Events, type Message } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { login, plainBot } from "../support/plain-bot.ts";

describe("discord.js and the sandbox's gateway", () => {
  let sandbox: Sandbox;
  let bot: Client;
  let heard: string[];
  beforeEach(async () => {
    sandbox = await startSandbox();
    heard = [];
    bot = plainBot(sandbox);
    bot.on(Events.MessageCreate, (message: Message) => heard.push(message.content));
  });
  afterEach(async () => {
    await bot.destroy();
    await sandbox.close();
  });

  const hears = (content: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!heard.includes(content)) return;
        bot.off(Events.MessageCreate, look);
        resolve();
      };
      bot.on(Events.MessageCreate, look);
      look();
    });

  it("resume after a dropped socket: what was said meanwhile is heard once, in order", async () => {
    await login(bot, sandbox.botToken);
    sandbox.owner.says("general", "before");
    await hears("before");
    sandbox.faults.dropSockets({ resumable: true });
    sandbox.owner.says("general", "meanwhile");
    await sandbox.until(() => sandbox.counters.resumes === 1);
    sandbox.owner.says("general", "after");
    await hears("after");
    expect(heard).toEqual(["before", "meanwhile", "after"]);
    expect(sandbox.counters.identifies).toBe(1);
  });

  it("identify anew after a session is lost: what was said meanwhile is not heard", async () => {
    await login(bot, sandbox.botToken);
    sandbox.faults.dropSockets({ resumable: false });
    sandbox.owner.says("general", "meanwhile");
    await sandbox.until(() => sandbox.counters.identifies === 2, { timeoutMs: 15_000 });
    sandbox.owner.says("general", "after");
    await hears("after");
    expect(heard).toEqual(["after"]);
  });

  it("connect again when they are asked to", async () => {
    await login(bot, sandbox.botToken);
    sandbox.faults.askToReconnect();
    await sandbox.until(() => sandbox.counters.resumes === 1);
    sandbox.owner.says("general", "after");
    await hears("after");
  });

  it("refuse a bad token, by REST and by gateway", async () => {
    await expect(bot.login("not.a.token")).rejects.toMatchObject({ code: DiscordjsErrorCodes.TokenInvalid });
  });

  it("refuse an intent that isn't switched on", async () => {
    sandbox.faults.refuseIntent("MessageContent");
    await expect(bot.login(sandbox.botToken)).rejects.toThrow(/disallowed intents/i);
  });

  it("carry DMs, edits and deletions of what was said before the start", async () => {
    const direct = sandbox.directMessages(sandbox.owner);
    const edited = sandbox.owner.says("general", "old");
    const deleted = sandbox.owner.says("general", "old");
    await login(bot, sandbox.botToken);
    const seen = new Promise<string[]>((resolve) => {
      const told: string[] = [];
      const tell = (what: string) => {
        told.push(what);
        if (told.length === 3) resolve(told);
      };
      bot.on(Events.MessageUpdate, (_before, after) => tell(`edited: ${after.content}`));
      bot.on(Events.MessageDelete, ({ id }) => tell(`deleted: ${id}`));
      bot.on(Events.MessageCreate, ({ channel, content }) =>
        tell(`${channel.isDMBased() ? "DM" : "not a DM"}: ${content}`),
      );
    });
    sandbox.owner.edits(edited, "new");
    sandbox.owner.deletes(deleted);
    sandbox.owner.says(direct, "hello");
    expect(await seen).toEqual(["edited: new", `deleted: ${deleted.id}`, "DM: hello"]);
  });

  it("keep what a bot knows of its permissions up to date", async () => {
    const client = await login(bot, sandbox.botToken);
    const channel = client.channels.cache.get(sandbox.general.id);
    if (!channel || channel.isDMBased()) throw new Error("the channel is not known");
    expect(channel.permissionsFor(client.user)?.has("CreatePublicThreads")).toBe(true);
    const updated = new Promise((resolve) => client.once(Events.ChannelUpdate, resolve));
    sandbox.faults.takeAway("CreatePublicThreads");
    await updated;
    expect(channel.permissionsFor(client.user)?.has("CreatePublicThreads")).toBe(false);
    const roleUpdated = new Promise((resolve) => client.once(Events.GuildRoleUpdate, resolve));
    const { roles } = sandbox.guild;
    sandbox.changeRole(Object.values(roles).find(({ botId }) => botId) as never, { permissions: ["ManageThreads"] });
    await roleUpdated;
    expect(channel.permissionsFor(client.user)?.has("ManageThreads")).toBe(true);
    expect(() => sandbox.changeRole({ id: "1" }, {})).toThrow("there is no role 1");
  });
});
