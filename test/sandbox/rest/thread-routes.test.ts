import type { APIMessage, APIThreadChannel, REST } from "discord.js";
import { ChannelType, MessageFlags, MessageType, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("the thread routes", () => {
  let sandbox: Sandbox;
  let rest: REST;
  let general: string;
  beforeEach(async () => {
    sandbox = await startSandbox({ limits: false });
    rest = botRest(sandbox);
    general = sandbox.general.id;
  });
  afterEach(() => sandbox.close());

  const open = (messageId: string, body: object = { name: "Plans" }) =>
    rest.post(Routes.threads(general, messageId), { body }) as Promise<APIThreadChannel>;
  const say = (channel: string, content = "x") =>
    rest.post(Routes.channelMessages(channel), { body: { content } }) as Promise<APIMessage>;
  const messages = async (channel: string) => (await rest.get(Routes.channelMessages(channel))) as APIMessage[];

  it("opens a thread on a message: same id, a starter line in it, a mark on the message", async () => {
    const asked = sandbox.owner.says("general", "plans?");
    const thread = await open(asked.id);
    expect(thread).toMatchObject({
      id: asked.id,
      parent_id: general,
      name: "Plans",
      owner_id: sandbox.bot.id,
      message_count: 0,
    });
    const [starter] = await messages(thread.id);
    expect(starter).toMatchObject({
      type: MessageType.ThreadStarterMessage,
      content: "",
      referenced_message: { content: "plans?" },
    });
    const marked = (await rest.get(Routes.channelMessage(general, asked.id))) as APIMessage;
    expect(marked).toMatchObject({ flags: MessageFlags.HasThread, thread: { id: thread.id } });
    await expect(rest.get(Routes.channelMessage(thread.id, asked.id))).rejects.toMatchObject({ code: 10008 });
  });

  it("refuses a second thread on a message with 160004", async () => {
    const asked = sandbox.owner.says("general", "plans?");
    sandbox.owner.opensThread(asked, "Already");
    await expect(open(asked.id)).rejects.toMatchObject({ code: 160004, status: 400 });
    expect(sandbox.channel(asked.id)).toMatchObject({ name: "Already" });
  });

  it("refuses names that aren't 1 to 100 characters, lengths of days that don't exist, and messages that are none", async () => {
    const { id } = sandbox.owner.says("general", "plans?");
    for (const name of ["", "   ", "x".repeat(101)])
      await expect(open(id, { name })).rejects.toMatchObject({ code: 50035 });
    await expect(open(id, {})).rejects.toMatchObject({ code: 50035 });
    await expect(open(id, { name: "x", auto_archive_duration: 61 })).rejects.toMatchObject({ code: 50035 });
    await expect(open("1")).rejects.toMatchObject({ code: 10008 });
    const pin = sandbox.owner.causes(MessageType.ChannelPinnedMessage, { in: "general" });
    await expect(open(pin.id)).rejects.toMatchObject({ code: 50021 });
    expect((await open(id, { name: "x".repeat(100), auto_archive_duration: 60 })).name).toHaveLength(100);
  });

  it("needs Create Public Threads to open one and Send Messages in Threads to speak in it", async () => {
    const { id } = sandbox.owner.says("general", "plans?");
    const giveBack = sandbox.faults.takeAway("CreatePublicThreads");
    await expect(open(id)).rejects.toMatchObject({ code: 50013 });
    giveBack();
    const thread = await open(id);
    sandbox.faults.takeAway("SendMessages");
    await say(thread.id);
    sandbox.faults.takeAway("SendMessagesInThreads");
    await expect(say(thread.id)).rejects.toMatchObject({ code: 50013 });
    await expect(rest.post(Routes.channelTyping(thread.id))).rejects.toMatchObject({ code: 50013 });
  });

  it("answers 160006 when the server has too many active threads", async () => {
    sandbox.faults.limitActiveThreads(1);
    await open(sandbox.owner.says("general", "one").id);
    const { id } = sandbox.owner.says("general", "two");
    await expect(open(id)).rejects.toMatchObject({ code: 160006, status: 400 });
    sandbox.owner.archives("Plans");
    await open(id);
  });

  it("opens no thread in a thread and none in a DM", async () => {
    const thread = await open(sandbox.owner.says("general", "plans?").id);
    const { id } = sandbox.owner.says(thread, "inside");
    await expect(rest.post(Routes.threads(thread.id, id), { body: { name: "x" } })).rejects.toMatchObject({
      code: 50024,
    });
    const direct = sandbox.directMessages(sandbox.owner);
    const alone = sandbox.owner.says(direct, "hello");
    await expect(rest.post(Routes.threads(direct.id, alone.id), { body: { name: "x" } })).rejects.toMatchObject({
      code: 50024,
    });
  });

  it("lets a message reopen an archived thread, but change nothing in it while it is archived", async () => {
    const thread = await open(sandbox.owner.says("general", "plans?").id);
    const { id } = await say(thread.id, "one");
    sandbox.owner.archives(thread);
    await expect(rest.patch(Routes.channelMessage(thread.id, id), { body: { content: "two" } })).rejects.toMatchObject({
      code: 50083,
    });
    await expect(rest.delete(Routes.channelMessage(thread.id, id))).rejects.toMatchObject({ code: 50083 });
    await expect(rest.patch(Routes.channel(thread.id), { body: { name: "New" } })).rejects.toMatchObject({
      code: 50083,
    });
    expect(sandbox.channel(thread.id)).toMatchObject({ archived: true });
    await say(thread.id, "two");
    expect(sandbox.channel(thread.id)).toMatchObject({ archived: false, messageCount: 2 });
  });

  it("answers 50083 in a locked archived thread and 160005 in a locked open one, without Manage Threads", async () => {
    const thread = await open(sandbox.owner.says("general", "plans?").id);
    sandbox.owner.locks(thread);
    await expect(say(thread.id)).rejects.toMatchObject({ code: 50083, status: 400 });
    await expect(rest.patch(Routes.channel(thread.id), { body: { archived: false } })).rejects.toMatchObject({
      code: 50013,
    });
    sandbox.owner.reopens(thread);
    await expect(say(thread.id)).rejects.toMatchObject({ code: 160005, status: 400 });
    sandbox.owner.says(thread, "an owner may");
  });

  it("renames its own thread, which shows as a system message, but not another's", async () => {
    const own = await open(sandbox.owner.says("general", "plans?").id);
    expect(await rest.patch(Routes.channel(own.id), { body: { name: "Better" } })).toMatchObject({ name: "Better" });
    expect(sandbox.text(own.id)).toBe("Ada: plans?\n— Threadkeeper changed the name: Better");
    const other = sandbox.owner.opensThread(sandbox.owner.says("general", "x"), "Other");
    await expect(rest.patch(Routes.channel(other.id), { body: { name: "Mine" } })).rejects.toMatchObject({
      code: 50013,
    });
    await expect(rest.patch(Routes.channel(own.id), { body: { locked: true } })).rejects.toMatchObject({ code: 50013 });
  });

  it("opens threads without a message, public and private", async () => {
    const body = { name: "Public", type: ChannelType.PublicThread };
    const open = (await rest.post(Routes.threads(general), { body })) as APIThreadChannel;
    expect(sandbox.text("general")).toBe("— Threadkeeper started a thread: Public");
    const secret = (await rest.post(Routes.threads(general), { body: { name: "Private" } })) as APIThreadChannel;
    expect([open.type, secret.type]).toEqual([ChannelType.PublicThread, ChannelType.PrivateThread]);
    const ben = sandbox.member("Ben");
    expect(() => ben.says(secret, "x")).toThrow("Missing Access");
    await rest.put(Routes.threadMembers(secret.id, ben.id));
    ben.says(secret, "here");
    await rest.delete(Routes.threadMembers(open.id, "@me"));
    expect(await rest.get(Routes.threadMembers(open.id))).toEqual([]);
  });

  it("doesn't see a private thread before it is added or called into it", async () => {
    const thread = sandbox.owner.opensThread("general", "Private", { isPrivate: true });
    await expect(rest.get(Routes.channel(thread.id))).rejects.toMatchObject({ code: 50001 });
    await expect(messages(thread.id)).rejects.toMatchObject({ code: 50001 });
    sandbox.owner.says(thread, "@Threadkeeper come in");
    expect((await messages(thread.id)).map(({ content }) => content)).toEqual([`<@${sandbox.bot.id}> come in`]);
    expect(await rest.get(Routes.threadMembers(thread.id, "@me"))).toMatchObject({ user_id: sandbox.bot.id });
  });

  it("takes a forum's post for a thread whose starter is in it", async () => {
    const forum = sandbox.createForum("ideas");
    const { thread, message } = sandbox.owner.posts(forum, "A bot", "@Threadkeeper could you?");
    expect(message.id).toBe(thread.id);
    expect((await messages(thread.id)).map(({ id, type }) => [id, type])).toEqual([[thread.id, MessageType.Default]]);
    await expect(rest.get(Routes.channelMessage(forum.id, thread.id))).rejects.toMatchObject({ code: 10008 });
    await expect(rest.post(Routes.threads(thread.id, thread.id), { body: { name: "x" } })).rejects.toMatchObject({
      code: 50024,
    });
    await expect(say(forum.id)).rejects.toMatchObject({ code: 50008 });
    const body = { name: "Mine", message: { content: "an idea" } };
    const own = (await rest.post(Routes.threads(forum.id), { body })) as APIThreadChannel;
    expect(own).toMatchObject({ name: "Mine", message: { id: own.id, content: "an idea" }, message_count: 0 });
  });

  it("lists active threads with their last message, and archived ones apart, newest first", async () => {
    const ids = ["one", "two", "three"].map((text) => sandbox.owner.says("general", text).id);
    for (const id of ids) await open(id, { name: id });
    const last = sandbox.owner.says({ id: ids[0] ?? "" }, "last");
    sandbox.owner.archives({ id: ids[1] ?? "" });
    const active = (await rest.get(Routes.guildActiveThreads(sandbox.guild.id))) as {
      threads: APIThreadChannel[];
      members: object[];
    };
    expect(active.threads.map(({ id }) => id)).toEqual([ids[2], ids[0]]);
    expect(active.threads[1]?.last_message_id).toBe(last.id);
    expect(active.members).toHaveLength(2);
    const archived = await rest.get(Routes.channelThreads(general, "public"));
    expect(archived).toMatchObject({ threads: [{ id: ids[1] }], has_more: false });
    await expect(rest.get(Routes.channelThreads(general, "private"))).rejects.toMatchObject({ code: 50013 });
    expect(await rest.get(Routes.channelJoinedArchivedThreads(general))).toMatchObject({
      threads: [],
      has_more: false,
    });
  });

  it("pages through private archived threads, all with Manage Threads, one's own without", async () => {
    const body = (name: string) => ({ body: { name, type: ChannelType.PrivateThread } });
    for (const name of ["own 1", "own 2"]) {
      const { id } = (await rest.post(Routes.threads(general), body(name))) as APIThreadChannel;
      await rest.patch(Routes.channel(id), { body: { archived: true } });
    }
    sandbox.owner.archives(sandbox.owner.opensThread("general", "other", { isPrivate: true }));
    const own = Routes.channelJoinedArchivedThreads(general);
    expect(((await rest.get(own)) as { threads: object[] }).threads).toHaveLength(2);
    expect(await rest.get(own, { query: new URLSearchParams({ limit: "1" }) })).toMatchObject({ has_more: true });
    const before = new URLSearchParams({ before: "2020-01-01T00:00:00.000Z" });
    expect(await rest.get(own, { query: before })).toMatchObject({ threads: [], has_more: false });
    sandbox.changeRole(
      { id: sandbox.guild.id },
      { permissions: ["ViewChannel", "ReadMessageHistory", "ManageThreads"] },
    );
    expect(((await rest.get(Routes.channelThreads(general, "private"))) as { threads: object[] }).threads).toHaveLength(
      3,
    );
  });

  it("is deleted with Manage Threads, a forum's post too, and not by its owner alone", async () => {
    const forum = sandbox.createForum("ideas");
    const posted = { name: "Mine", message: { content: "an idea" } };
    const post = (await rest.post(Routes.threads(forum.id), { body: posted })) as APIThreadChannel;
    const alone = { name: "Alone", type: ChannelType.PublicThread };
    const thread = (await rest.post(Routes.threads(general), { body: alone })) as APIThreadChannel;
    await expect(rest.delete(Routes.channel(thread.id))).rejects.toMatchObject({ code: 50013 });
    const role = Object.values(sandbox.guild.roles).find(({ botId }) => botId);
    if (role) sandbox.changeRole(role, { permissions: ["ManageThreads"] });
    for (const { id } of [post, thread]) {
      await rest.delete(Routes.channel(id));
      await expect(messages(id)).rejects.toMatchObject({ code: 10003 });
    }
    expect(sandbox.threads()).toEqual([]);
  });

  it("goes with its channel", async () => {
    const thread = await open(sandbox.owner.says("general", "plans?").id);
    await expect(rest.delete(Routes.channel(thread.id))).rejects.toMatchObject({ code: 50013 });
    sandbox.owner.removes("general");
    await expect(say(thread.id)).rejects.toMatchObject({ code: 10003 });
    await expect(rest.get(Routes.channel(general))).rejects.toMatchObject({ code: 10003 });
  });
});
