import { type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("the bot's side", () => {
  let sandbox: Sandbox;
  let rest: REST;
  let unknown: string[];
  beforeEach(async () => {
    unknown = [];
    sandbox = await startSandbox({ limits: false, onUnknown: (what) => unknown.push(what) });
    rest = botRest(sandbox);
  });
  afterEach(() => sandbox.close());

  it("answers what it doesn't have with 501, by name, and says so loudly", async () => {
    const answer = await fetch(`${sandbox.api}/v10/channels/${sandbox.general.id}/pins/12345?x=1`, {
      method: "PUT",
      headers: { authorization: `Bot ${sandbox.botToken}` },
    });
    expect(answer.status).toBe(501);
    expect(await answer.json()).toMatchObject({ route: "PUT /channels/:id/pins/:id" });
    expect((await fetch(`${sandbox.api}/v9/users/@me`)).status).toBe(501);
    expect((await fetch(`${sandbox.origin}/nothing`)).status).toBe(501);
    const names = ["PUT /channels/:id/pins/:id", "GET /api/v9/users/@me", "GET /nothing"];
    expect(unknown).toEqual(names);
    expect(sandbox.counters.unknown).toEqual(names);
  });

  it("counts requests by route", async () => {
    await rest.get(Routes.channel(sandbox.general.id));
    await rest.get(Routes.channelMessages(sandbox.general.id)).catch(() => undefined);
    await rest.get(Routes.channel("1")).catch(() => undefined);
    expect(sandbox.counters.requests).toEqual({
      "GET /channels/:id": 1,
      "GET /channels/:id/messages": 1,
      "GET /channels/1": 1,
    });
  });

  it("says who the bot is, where its gateway is and which servers it is in", async () => {
    expect(await rest.get(Routes.user())).toMatchObject({ id: sandbox.bot.id, bot: true });
    expect(await rest.get(Routes.user(sandbox.owner.id))).toMatchObject({ global_name: "Ada" });
    expect(await rest.get(Routes.gatewayBot())).toMatchObject({
      url: expect.stringMatching(/^ws:/),
      session_start_limit: { max_concurrency: 1 },
    });
    expect(await rest.get(Routes.gateway(), { auth: false })).toMatchObject({ url: expect.stringMatching(/^ws:/) });
    expect(await rest.get(Routes.currentApplication())).toMatchObject({ id: sandbox.bot.id, flags: 1 << 19 });
    expect(await rest.get(Routes.oauth2CurrentApplication())).toMatchObject({ name: "Threadkeeper" });
    expect(await rest.get(Routes.userGuilds())).toMatchObject([{ name: "Sandbox" }]);
    await expect(rest.get(Routes.user("1"))).rejects.toMatchObject({ code: 10013 });
  });

  it("shows a server, its channels, roles and members", async () => {
    const { id } = sandbox.guild;
    sandbox.member("Ben", { roles: ["Crew"] });
    expect(await rest.get(Routes.guild(id))).toMatchObject({ name: "Sandbox", owner_id: sandbox.owner.id });
    expect(await rest.get(Routes.guildChannels(id))).toMatchObject([{ name: "general" }]);
    expect(await rest.get(Routes.guildRoles(id))).toMatchObject([
      { name: "@everyone" },
      { tags: { bot_id: sandbox.bot.id } },
      { name: "Crew" },
    ]);
    expect(await rest.get(Routes.guildMember(id, sandbox.member("Ben").id))).toMatchObject({
      user: { global_name: "Ben" },
      roles: [expect.any(String)],
    });
    expect(await rest.get(Routes.guildMember(id, "@me"))).toMatchObject({ user: { id: sandbox.bot.id } });
    await expect(rest.get(Routes.guildMember(id, "1"))).rejects.toMatchObject({ code: 10007 });
    sandbox.faults.removeBot(sandbox.guild);
    await expect(rest.get(Routes.guild(id))).rejects.toMatchObject({ code: 10004 });
  });

  it("opens a DM once, and not with itself", async () => {
    const open = (recipient_id: string) => rest.post(Routes.userChannels(), { body: { recipient_id } });
    const direct = (await open(sandbox.owner.id)) as { id: string };
    expect(direct).toMatchObject({ type: 1, recipients: [{ global_name: "Ada" }] });
    expect(await open(sandbox.owner.id)).toMatchObject({ id: direct.id });
    await expect(open(sandbox.bot.id)).rejects.toMatchObject({ code: 50007 });
    const ben = sandbox.member("Ben");
    expect(() => ben.says(direct, "x")).toThrow("Missing Access");
  });

  it("edits and deletes a channel with Manage Channels only", async () => {
    const path = Routes.channel(sandbox.general.id);
    await expect(rest.patch(path, { body: { name: "other" } })).rejects.toMatchObject({ code: 50013 });
    await expect(rest.delete(path)).rejects.toMatchObject({ code: 50013 });
    sandbox.changeRole({ id: sandbox.guild.id }, { permissions: ["ViewChannel", "ManageChannels"] });
    expect(await rest.patch(path, { body: { topic: "all" } })).toMatchObject({ name: "general", topic: "all" });
    expect(await rest.patch(path, { body: { name: "other" } })).toMatchObject({ name: "other", topic: "all" });
    await expect(rest.patch(path, { body: { name: "" } })).rejects.toMatchObject({ code: 50035 });
    await rest.delete(path);
    await expect(rest.get(path)).rejects.toMatchObject({ code: 10003 });
    const direct = sandbox.directMessages(sandbox.owner);
    await expect(rest.patch(Routes.channel(direct.id), { body: {} })).rejects.toMatchObject({ code: 50024 });
    await expect(rest.delete(Routes.channel(direct.id))).rejects.toMatchObject({ code: 50003 });
  });
});
