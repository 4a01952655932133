import { MessageType } from "discord.js";
import { describe, expect, it } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, asks, botTexts, gate, opensThread } from "./support/talk.ts";

const long = Array.from({ length: 900 }, (_, index) => `word${index}`).join(" ");

/** A house whose model repeats what it is asked, at length if it is asked for that. */
async function running(): Promise<House & { readonly model: ReturnType<typeof answeringModel> }> {
  const model = answeringModel(({ questions }) => (questions.at(-1) === "at length" ? long : `heard: ${questions}`));
  const house = await openHouse({ model });
  await house.start();
  return { ...house, model };
}

/** What the bot has said in a channel, the answers of commands left out. */
function answers({ sandbox }: House, channel: { id: string }): string[] {
  const said = sandbox.messages(channel).filter(({ authorId }) => authorId === sandbox.bot.id);
  return said
    .filter(({ type }) => type === MessageType.Default || type === MessageType.Reply)
    .map((one) => one.content);
}

describe("/undo", () => {
  it("takes the last turn out of memory and its messages out of the thread; the question stays, and is linked", async () => {
    const house = await running();
    const { sandbox, model } = house;
    const thread = await opensThread(sandbox, sandbox.owner, "the first");
    const question = sandbox.owner.says(thread, "at length");
    await sandbox.until(() => answers(house, thread).length === 4);
    const answer = await sandbox.owner.runs("/undo", { in: thread }).answer();
    expect(answers(house, thread)).toEqual(["heard: the first"]);
    expect([answer.onlyFor, answer.pinged]).toEqual([undefined, { users: [], roles: [], everyone: false }]);
    expect(answer.content).toContain("Undone.");
    expect(answer.content).toContain(`https://discord.com/channels/${sandbox.guild.id}/${thread.id}/${question.id}`);
    expect(sandbox.messages(thread).map(({ id }) => id)).toContain(question.id);
    await asks(sandbox, sandbox.owner, thread, "and now?");
    expect(model.shown.at(-1)?.prompt).toContain("the first");
    expect(model.shown.at(-1)?.prompt).not.toContain("at length");
  });

  it("of the turn that opened the thread links the message above it, and leaves the thread with nothing to undo", async () => {
    const house = await running();
    const { sandbox } = house;
    const thread = await opensThread(sandbox, sandbox.owner, "the first");
    const answer = await sandbox.owner.runs("/undo", { in: thread }).answer();
    expect(answer.content).toContain(`/${sandbox.general.id}/${thread.id}`);
    expect(answers(house, thread)).toEqual([]);
    expect((await sandbox.owner.runs("/undo", { in: thread }).answer()).content).toContain("nothing to undo");
  });

  it("ends a turn in progress: nothing of it stays, and nothing comes later", async () => {
    const words = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      yield `heard: ${questions}`;
      if (call === 1) {
        await words.opened;
        yield " late";
      }
    });
    const house = await openHouse({ model });
    await house.start();
    const { sandbox } = house;
    const thread = await opensThread(sandbox, sandbox.owner, "the first");
    sandbox.owner.says(thread, "the second");
    await answerTo(sandbox, thread, 1);
    sandbox.owner.says(thread, "the third");
    const answer = await sandbox.owner.runs("/undo", { in: thread }).answer();
    expect(answer.content).toContain("Undone.");
    words.open();
    await sandbox.until(() => answers(house, thread).includes("heard: the third"));
    expect(answers(house, thread)).toEqual(["heard: the first", "heard: the third"]);
    expect(model.shown.at(-1)?.prompt).not.toContain("the second");
  });

  it("is for who opened the thread and for those who manage threads", async () => {
    const house = await running();
    const { sandbox } = house;
    const bob = sandbox.member("Bob");
    const thread = await opensThread(sandbox, bob, "hello");
    await asks(sandbox, bob, thread, "again");
    const eve = sandbox.member("Eve");
    expect((await eve.runs("/undo", { in: thread }).answer()).content).toContain("Only who opened this thread");
    expect((await eve.runs("/undo", { in: "general" }).answer()).content).toContain("in this place");
    expect(answers(house, thread)).toHaveLength(2);
    expect((await bob.runs("/undo", { in: thread }).answer()).content).toContain("Undone.");
    expect((await sandbox.owner.runs("/undo", { in: thread }).answer()).content).toContain("Undone.");
    expect(answers(house, thread)).toEqual([]);
  });

  it("works in a direct conversation, and in an archived thread, which it opens again", async () => {
    const house = await running();
    const { sandbox } = house;
    const direct = sandbox.directMessages(sandbox.owner);
    await asks(sandbox, sandbox.owner, direct, "hello");
    const answer = await sandbox.owner.runs("/undo", { in: direct }).answer();
    expect(answer.content).toContain(`https://discord.com/channels/@me/${direct.id}/`);
    expect(answers(house, direct)).toEqual([]);
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.archives(thread);
    expect((await sandbox.owner.runs("/undo", { in: thread }).answer()).content).toContain("Undone.");
    expect(answers(house, thread)).toEqual([]);
  });

  it("says so where the answer can't be removed, since the thread is locked", async () => {
    const house = await running();
    const { sandbox } = house;
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.locks(thread);
    expect((await sandbox.owner.runs("/undo", { in: thread }).answer()).content).toContain("could not be removed");
    expect(answers(house, thread)).toEqual(["heard: hello"]);
  });

  it("in somebody else's thread is not brought back as what was said before", async () => {
    const { sandbox, model } = await running();
    const thread = sandbox.owner.opensThread(sandbox.owner.says("general", "plans?"), "Plans");
    sandbox.owner.says(thread, "by the sea");
    const call = async (text: string) => {
      const before = botTexts(sandbox, thread).length;
      sandbox.owner.mentions(sandbox.bot, text, thread);
      await answerTo(sandbox, thread, before);
    };
    await call("the secret is plum");
    await sandbox.owner.runs("/undo", { in: thread }).answer();
    await call("and now?");
    expect(model.shown.at(-1)?.prompt).not.toContain("plum");
  });
});
