import { MessageType } from "discord.js";
import { describe, expect, it } from "vitest";
import { type AnsweringModel, answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, asks, botMessages, botTexts, forgottenByDiscordJs, opensThread } from "./support/talk.ts";

function echo(): AnsweringModel {
  return answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
}

async function running(): Promise<House & { readonly model: AnsweringModel }> {
  const model = echo();
  const house = await openHouse({ model });
  await house.start();
  return { ...house, model };
}

/** Says something that must be answered, so that whatever came before it has been heard. */
async function heardUntilNow({ sandbox }: House): Promise<void> {
  await opensThread(sandbox, sandbox.owner, "are you there?");
}

describe("who is answered", () => {
  it("@everyone is not a call, and with a mention of the bot it is one", async () => {
    const house = await running();
    const { sandbox, model } = house;
    const ada = sandbox.owner;
    const meeting = ada.says("general", "@everyone meeting at 5");
    await heardUntilNow(house);
    expect(sandbox.findChannel(meeting.id)).toBeUndefined();
    expect(model.shown).toHaveLength(1);
    await opensThread(sandbox, ada, "@everyone what about this?");
    expect(model.shown).toHaveLength(2);
  });

  it("bots are ignored unless they are allowed", async () => {
    const model = echo();
    const { sandbox, start } = await openHouse({ model });
    const ignored = sandbox.member("Helper", { bot: true });
    const allowed = sandbox.member("Friend", { bot: true });
    await start({ bot: { allowedBots: [allowed.id] } });
    ignored.mentions(sandbox.bot, "hello from a bot");
    await opensThread(sandbox, allowed, "hello from a friend");
    expect(model.shown.map(({ questions }) => questions)).toEqual([["hello from a friend"]]);
  });

  it("a rename, a pin, a boost and a thread's beginning are not answered", async () => {
    const house = await running();
    const { sandbox, model } = house;
    const ada = sandbox.owner;
    const thread = await opensThread(sandbox, ada, "hello");
    ada.renames(thread, "a better name");
    for (const type of [MessageType.ChannelPinnedMessage, MessageType.GuildBoost, MessageType.UserJoin]) {
      ada.causes(type, { in: thread });
    }
    await asks(sandbox, ada, thread, "and now?");
    expect(model.shown).toHaveLength(2);
    expect(botMessages(sandbox, thread)).toHaveLength(2);
  });

  it("the bot's own role is a call; a role of another server is not", async () => {
    const house = await running();
    const { sandbox, model } = house;
    const own = Object.values(sandbox.guild.roles).find(({ botId }) => botId === sandbox.bot.id);
    const { general } = sandbox;
    const elsewhere = sandbox.createGuild("Elsewhere");
    const foreign = Object.values(elsewhere.roles).find(({ botId }) => botId === sandbox.bot.id);
    sandbox.owner.says(general, `<@&${foreign?.id}> hello`);
    const message = sandbox.owner.says(general, `<@&${own?.id}> hello`);
    await answerTo(sandbox, message.id, 0);
    expect(model.shown.map(({ questions }) => questions)).toEqual([["hello"]]);
  });

  it("a direct message is answered without a mention, after a restart too", async () => {
    const model = echo();
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const direct = sandbox.directMessages(sandbox.owner);
    await asks(sandbox, sandbox.owner, direct, "just between us");
    await first.stop();
    await start();
    await asks(sandbox, sandbox.owner, direct, "do you remember?");
    expect(model.shown[1]?.prompt).toContain("just between us");
    expect(sandbox.threads()).toEqual([]);
  });
});

describe("a thread that is there already", () => {
  it("because the mention is delivered twice: one thread, one answer", async () => {
    const model = echo();
    const house = await openHouse({ model });
    const { quiet } = await house.start();
    const { sandbox } = house;
    const mention = sandbox.owner.mentions(sandbox.bot, "hello");
    sandbox.faults.redeliver(mention);
    await answerTo(sandbox, mention.id, 0);
    forgottenByDiscordJs(sandbox, "general");
    sandbox.faults.redeliver(mention);
    await heardUntilNow(house);
    await quiet();
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: hello"]);
    expect(model.shown).toHaveLength(2);
  });

  it("because somebody opened it first: the answer goes there, with what was said in it", async () => {
    const model = echo();
    const { sandbox, start, logged } = await openHouse({ model });
    const house = await start();
    const ended = sandbox.faults.slow({ route: "POST /channels/:id/messages/:id/threads", ms: 100 });
    const mention = sandbox.owner.mentions(sandbox.bot, "hello");
    sandbox.owner.opensThread(mention, "mine");
    sandbox.member("Bob").says(mention.id, "I was here first");
    await answerTo(sandbox, mention.id, 0);
    ended();
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: hello"]);
    expect(model.shown[0]?.prompt).toContain("I was here first");
    expect(logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    await house.stop();
  });
});

describe("somebody else's thread", () => {
  it("is answered in when the bot is mentioned or replied to, and what was said between goes along, once", async () => {
    const { sandbox, model } = await running();
    const [ada, bob] = [sandbox.owner, sandbox.member("Bob")];
    const starter = bob.says("general", "the mill is broken");
    const thread = bob.opensThread(starter, "mill");
    bob.says(thread, "it makes a noise");
    ada.says(thread, "like a cat?");
    const first = await asks(sandbox, ada, thread, `<@${sandbox.bot.id}> what could it be?`);
    bob.says(thread, "more like a dog");
    const before = botMessages(sandbox, thread).length;
    bob.says(thread, "are you sure?", { replyTo: first, ping: false });
    await answerTo(sandbox, thread, before);

    expect(model.shown.map(({ questions }) => questions)).toEqual([["what could it be?"], ["are you sure?"]]);
    const [one, two] = model.shown.map(({ prompt }) => prompt);
    for (const words of ["the mill is broken", "it makes a noise", "like a cat?"]) {
      expect(one?.split(words)).toHaveLength(2);
      expect(two?.split(words)).toHaveLength(2);
    }
    expect(one).not.toContain("more like a dog");
    expect(two?.split("more like a dog")).toHaveLength(2);
    expect(two?.split("heard: what could it be?")).toHaveLength(2);
  });

  it("brings the newest 20 messages, with the one that it started from", async () => {
    const { sandbox, model } = await running();
    const bob = sandbox.member("Bob");
    const starter = bob.says("general", "counting");
    const thread = bob.opensThread(starter, "numbers");
    for (let number = 1; number <= 30; number += 1) bob.says(thread, `number ${number}.`);
    await asks(sandbox, bob, thread, `<@${sandbox.bot.id}> how far did I get?`);
    const prompt = model.shown[0]?.prompt ?? "";
    expect(prompt).toContain("counting");
    expect(prompt).not.toContain("number 11.");
    for (let number = 12; number <= 30; number += 1) expect(prompt).toContain(`number ${number}.`);
  });
});

describe("a call that replies to another message", () => {
  it("brings that message along, as something that was said nearby", async () => {
    const { sandbox, model } = await running();
    const remark = sandbox.member("Bob").says("general", "the quern is stuck");
    const call = sandbox.owner.says("general", `<@${sandbox.bot.id}> what does he mean?`, { replyTo: remark });
    await answerTo(sandbox, call.id, 0);
    expect(model.shown[0]?.questions).toEqual(["what does he mean?"]);
    expect(model.shown[0]?.prompt).toMatch(/<overheard by="Bob"[^>]*>\nthe quern is stuck\n/);
  });
});

describe("a forum", () => {
  it("the post is the thread: no other is opened, and what the post says is known", async () => {
    const { sandbox, model } = await running();
    const forum = sandbox.createForum("questions");
    const { thread } = sandbox.owner.posts(forum, "Mills", `@${sandbox.bot.name} how do mills work?`);
    await answerTo(sandbox, thread, 0);
    expect(sandbox.threads()).toHaveLength(1);
    expect(model.shown[0]?.questions).toEqual(["how do mills work?"]);

    const other = sandbox.owner.posts(forum, "Ovens", "ovens are hot");
    sandbox.owner.says(other.thread, "very");
    await asks(sandbox, sandbox.owner, other.thread, `<@${sandbox.bot.id}> why?`);
    expect(sandbox.threads()).toHaveLength(2);
    expect(model.shown[1]?.prompt.split("ovens are hot")).toHaveLength(2);
  });
});

describe("three messages in one thread", () => {
  it("hold the starter in the history once, not once per turn", async () => {
    const { sandbox, model } = await running();
    const thread = await opensThread(sandbox, sandbox.owner, "the starter");
    await asks(sandbox, sandbox.owner, thread, "second");
    await asks(sandbox, sandbox.owner, thread, "third");
    expect(model.shown[2]?.prompt.split("\nthe starter\n<")).toHaveLength(2);
    expect(model.shown[2]?.prompt.split("<said by")).toHaveLength(4);
  });
});

describe("a thread's name", () => {
  it("is made of whatever was said, and no mention is lost for it", async () => {
    const { sandbox } = await running();
    for (const text of ["x".repeat(300), "***", "🎉🎉", "\u200b?"]) {
      const mention = sandbox.owner.mentions(sandbox.bot, text);
      await answerTo(sandbox, mention.id, 0);
    }
    for (const { name } of sandbox.threads()) expect(name.length).toBeLessThanOrEqual(100);
    expect(sandbox.threads()).toHaveLength(4);
  });

  it("exists for a message that is only the mention, and what is said there is a turn", async () => {
    const { sandbox, model } = await running();
    const mention = sandbox.owner.mentions(sandbox.bot, "");
    const greeting = await answerTo(sandbox, mention.id, 0);
    expect(greeting.content).toContain("What can I do for you?");
    expect(model.shown).toEqual([]);
    await asks(sandbox, sandbox.owner, mention.id, "tell me about mills");
    expect(model.shown[0]?.questions).toEqual(["tell me about mills"]);
  });
});

describe("a place where the bot can't answer", () => {
  it("says once which permission is missing, and asks the model nothing", async () => {
    for (const [permission, name] of [
      ["CreatePublicThreads", "Create Public Threads"],
      ["SendMessagesInThreads", "Send Messages in Threads"],
    ] as const) {
      const { sandbox, model } = await running();
      const back = sandbox.faults.takeAway(permission);
      sandbox.owner.mentions(sandbox.bot, "hello?");
      const complaint = await answerTo(sandbox, "general", 0);
      expect(complaint.content).toContain(name);
      sandbox.owner.mentions(sandbox.bot, "hello??");
      back();
      // The permission's return travels behind the mention, so that this is heard after it.
      await opensThread(sandbox, sandbox.owner, "hello now");
      expect(botMessages(sandbox, "general")).toHaveLength(1);
      expect(model.shown.map(({ questions }) => questions)).toEqual([["hello now"]]);
      expect(sandbox.threads()).toHaveLength(1);
    }
  });

  it("because a permission went while the thread was open: it is said in the channel above", async () => {
    const { sandbox, model } = await running();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.takeAway("SendMessagesInThreads");
    sandbox.owner.says(thread, "still there?");
    const complaint = await answerTo(sandbox, "general", 0);
    expect(complaint.content).toContain("Send Messages in Threads");
    expect(model.shown).toHaveLength(1);
  });

  it("because Discord refuses or fails: one sentence in the channel, no call of the model, the next mention works", async () => {
    const { sandbox, model } = await running();
    const route = "POST /channels/:id/messages/:id/threads";
    const faults = [
      { status: 403, code: 50013 },
      { status: 400, code: 50035 },
      { status: 502, times: 4 },
    ];
    for (const [number, fault] of faults.entries()) {
      sandbox.faults.fail({ route, ...fault });
      const mention = sandbox.owner.mentions(sandbox.bot, "hello?");
      const sorry = await answerTo(sandbox, "general", number);
      expect(sorry.reference?.messageId).toBe(mention.id);
    }
    const [refused, failed, broken] = botTexts(sandbox, "general");
    expect(refused).toContain("permission");
    expect(failed).toContain("Discord refused");
    expect(broken).toContain("Discord did not let me through");
    expect(model.shown).toEqual([]);
    await opensThread(sandbox, sandbox.owner, "hello now");
  });

  it("because the server has too many threads: it is answered in place, and said", async () => {
    const { sandbox } = await running();
    sandbox.faults.limitActiveThreads(0);
    const mention = sandbox.owner.mentions(sandbox.bot, "hello");
    await answerTo(sandbox, "general", 1);
    const [said, answer] = botMessages(sandbox, "general");
    expect(said?.content).toContain("threads");
    expect(answer?.content).toBe("heard: hello");
    expect(answer?.reference?.messageId).toBe(mention.id);
  });

  it("because the thread was locked during the run: one line in the log, no retry, the answer stays in the session", async () => {
    let locked = () => {};
    const model = answeringModel(async function* ({ call }) {
      if (call === 1) locked();
      yield `answer ${call}`;
    });
    const { sandbox, start, logged } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    locked = () => void sandbox.owner.locks(thread);
    const before = sandbox.counters.requests["POST /channels/:id/messages"] ?? 0;
    sandbox.owner.says(thread, "and now?");
    await sandbox.until(() => (sandbox.counters.requests["POST /channels/:id/messages"] ?? 0) > before);
    await house.stop();
    expect(botTexts(sandbox, thread)).toEqual(["answer 0"]);
    expect(sandbox.counters.requests["POST /channels/:id/messages"]).toBe(before + 1);
    expect(logged.filter(({ level }) => Number(level) >= 40)).toHaveLength(1);
    const again = await start();
    const session = await again.sessions.get(`discord:${thread.id}`);
    expect(JSON.stringify(session?.events.at(-1)?.message)).toContain("answer 1");
  });

  it("because the thread is locked already: the model is not asked", async () => {
    const house = await running();
    const { sandbox, model } = house;
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.locks(thread);
    sandbox.owner.says(thread, "I may, you may not");
    await heardUntilNow(house);
    expect(model.shown.map(({ questions }) => questions)).toEqual([["hello"], ["are you there?"]]);
  });
});
