import { ChannelType, MessageType } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, asks, botMessages, botTexts, opensThread } from "./support/talk.ts";

async function running(): Promise<House & { readonly model: ReturnType<typeof answeringModel> }> {
  const model = answeringModel(({ questions }) => `heard: ${questions}`);
  const house = await openHouse({ model });
  await house.start();
  return { ...house, model };
}

function forkOf(sandbox: Sandbox, content: string): { id: string } {
  const id = /<#(\d+)>/.exec(content)?.[1] ?? "";
  expect(sandbox.findChannel({ id })).toBeDefined();
  return { id };
}

describe("/fork", () => {
  it("opens a thread in the same channel that begins with this one's memory, and links the two", async () => {
    const { sandbox, model } = await running();
    const thread = await opensThread(sandbox, sandbox.owner, "the secret is plum");
    const answer = await sandbox.owner.runs("/fork", { in: thread }).answer();
    expect([answer.onlyFor, answer.pinged]).toEqual([undefined, { users: [], roles: [], everyone: false }]);
    const fork = forkOf(sandbox, answer.content);
    expect(sandbox.channel(fork)).toMatchObject({
      type: ChannelType.PublicThread,
      parentId: sandbox.general.id,
      ownerId: sandbox.bot.id,
      name: "the secret is plum (fork)",
    });
    await sandbox.until(() => botMessages(sandbox, fork).length === 1);
    const [first] = botMessages(sandbox, fork);
    expect(first?.content).toContain(`<#${thread.id}>`);
    expect(first?.pinged).toEqual({ users: [], roles: [], everyone: false });
    // No mention is needed, and from here on each goes its own way.
    const said = await asks(sandbox, sandbox.owner, fork, "what was it?");
    expect(said).toMatchObject({ content: "heard: what was it?", type: MessageType.Reply });
    expect(model.shown.at(-1)?.prompt).toContain("plum");
    await asks(sandbox, sandbox.owner, thread, "still here?");
    expect(model.shown.at(-1)?.prompt).not.toContain("what was it?");
  });

  it("is for who opened the thread and for those who manage threads; a fork is whose who asked for it", async () => {
    const { sandbox } = await running();
    const [bob, eve] = [sandbox.member("Bob"), sandbox.member("Eve")];
    const thread = await opensThread(sandbox, bob, "hello");
    expect((await eve.runs("/fork", { in: thread }).answer()).content).toContain("Only who opened this thread");
    const fork = forkOf(sandbox, (await bob.runs("/fork", { in: thread }).answer()).content);
    await sandbox.until(() => botMessages(sandbox, fork).length === 1);
    expect((await eve.runs("/reset", { in: fork }).answer()).content).toContain("Only who opened this thread");
    const again = await bob.runs("/fork", { in: fork }).answer();
    expect(sandbox.channel(forkOf(sandbox, again.content))).toMatchObject({ name: "hello (fork 2)" });
    expect((await bob.runs("/reset", { in: fork }).answer()).content).toContain("Forgotten");
  });

  it("in a forum is a new post, which answers and whose memory can be undone", async () => {
    const { sandbox, model } = await running();
    const forum = sandbox.createForum("ideas");
    const bob = sandbox.member("Bob");
    const { thread } = bob.posts(forum, "A bot", "@Threadkeeper the secret is plum");
    await answerTo(sandbox, thread, 0);
    const fork = forkOf(sandbox, (await bob.runs("/fork", { in: thread }).answer()).content);
    expect(sandbox.channel(fork)).toMatchObject({ parentId: forum.id, name: "A bot (fork)" });
    expect(botTexts(sandbox, fork)).toEqual([expect.stringContaining(`<#${thread.id}>`)]);
    await asks(sandbox, bob, fork, "what was it?");
    expect(model.shown.at(-1)?.prompt).toContain("plum");
    expect((await bob.runs("/undo", { in: fork }).answer()).content).toContain("Undone.");
    expect(botTexts(sandbox, fork).filter((text) => text.startsWith("heard"))).toEqual([]);
  });

  it("carries nothing out of a private thread or a direct conversation, and says so in a channel", async () => {
    const { sandbox } = await running();
    const secret = sandbox.owner.opensThread("general", "Private", { isPrivate: true });
    sandbox.owner.says(secret, "@Threadkeeper the secret is plum");
    await answerTo(sandbox, secret, 0);
    const direct = sandbox.directMessages(sandbox.owner);
    await asks(sandbox, sandbox.owner, direct, "hello");
    const threads = sandbox.threads().length;
    for (const place of [secret, direct, "general"] as const) {
      const answer = await sandbox.owner.runs("/fork", { in: place }).answer();
      expect(answer.content).toContain("in public threads only");
    }
    expect(sandbox.threads()).toHaveLength(threads);
  });

  it("opens no thread where there is no memory, no permission or no room", async () => {
    const { sandbox } = await running();
    const empty = sandbox.owner.opensThread(sandbox.owner.says("general", "plans?"), "Plans");
    const forked = async (place: { id: string }) => (await sandbox.owner.runs("/fork", { in: place }).answer()).content;
    expect(await forked(empty)).toContain("nothing to carry over");
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const giveBack = sandbox.faults.takeAway("CreatePublicThreads");
    expect(await forked(thread)).toContain("Create Public Threads");
    giveBack();
    const opening = "POST /channels/:id/threads";
    sandbox.faults.fail({ route: opening, status: 403, code: 50013 });
    expect(await forked(thread)).toContain("one that Discord does not name");
    sandbox.faults.fail({ route: opening, status: 400, code: 50024 });
    expect(await forked(thread)).toContain("Discord refused");
    sandbox.faults.limitActiveThreads(2);
    const told = await forked(thread);
    expect(told).toContain("as many active threads");
    expect(told).not.toContain("I answer here");
    expect(sandbox.threads()).toHaveLength(2);
  });

  it("whose thread can't be introduced remembers all the same", async () => {
    const { sandbox, model, logged } = await running();
    const thread = await opensThread(sandbox, sandbox.owner, "the secret is plum");
    sandbox.faults.fail({ status: 403, code: 50013 });
    const fork = forkOf(sandbox, (await sandbox.owner.runs("/fork", { in: thread }).answer()).content);
    expect(logged.some(({ msg }) => msg === "a forked thread could not be introduced")).toBe(true);
    await asks(sandbox, sandbox.owner, fork, "what was it?");
    expect(model.shown.at(-1)?.prompt).toContain("plum");
  });

  it("that fails when its thread is there leaves none that looks like one that remembers", async () => {
    for (const mayDelete of [false, true]) {
      const model = answeringModel(() => "heard");
      const { sandbox, start } = await openHouse({ model });
      const { sessions } = await start();
      const role = Object.values(sandbox.guild.roles).find(({ botId }) => botId);
      if (mayDelete && role) sandbox.changeRole(role, { permissions: ["ManageThreads"] });
      const thread = await opensThread(sandbox, sandbox.owner, "hello");
      sandbox.onChange((change) => {
        if (change.type === "thread-created") void sessions.create({ sessionId: `discord:${change.thread.id}` });
      });
      const answer = await sandbox.owner.runs("/fork", { in: thread }).answer();
      expect(answer.content).toContain("There is a conversation already");
      const [, other] = sandbox.threads();
      expect(other?.archived).toBe(mayDelete ? undefined : true);
      if (other) expect(botTexts(sandbox, other).at(-1)).toContain("could not carry");
    }
  });
});
