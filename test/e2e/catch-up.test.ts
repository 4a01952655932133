import { readFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, asks, botMessages, botTexts, gate, opensThread } from "./support/talk.ts";

const echo = () => answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);

/** What the newest line about it says, once there are so many of them. */
async function caughtUp({ logged }: House, times: number): Promise<Record<string, unknown>> {
  const lines = () => logged.filter(({ msg }) => msg === "caught up with what was said meanwhile");
  await vi.waitUntil(() => lines().length >= times, { timeout: 20_000 });
  return lines().at(-1) ?? {};
}

/** A thread in which "one" was answered, and whose bot is away. */
async function leftThread(model: ReturnType<typeof echo>) {
  const house = await openHouse({ model });
  const { sandbox } = house;
  const first = await house.start();
  const thread = await opensThread(sandbox, sandbox.owner, "one");
  await first.stop();
  return { house, sandbox, thread };
}

describe("after a downtime", () => {
  it("what was said in known threads and by fresh mentions is answered once, in order; what was answered is not again", async () => {
    const model = echo();
    const house = await openHouse({ model });
    const { sandbox } = house;
    const bob = sandbox.member("Bob");
    const first = await house.start();
    const open = await opensThread(sandbox, sandbox.owner, "one");
    const archived = await opensThread(sandbox, bob, "two");
    const direct = sandbox.directMessages(bob);
    await asks(sandbox, bob, direct, "in private");
    bob.says("general", "not for the bot");
    await first.stop();

    sandbox.owner.says(open, "first");
    bob.says(archived, "are you there?");
    sandbox.owner.archives(archived);
    sandbox.owner.says(open, "second");
    bob.says(direct, "and here?");
    bob.says("general", "not for the bot either");
    const mention = bob.mentions(sandbox.bot, "a new question");
    const everyone = sandbox.owner.says("general", "@everyone lunch");
    const forum = sandbox.createForum("questions");
    const { thread: post } = bob.posts(forum, "Help", `<@${sandbox.bot.id}> it is broken`);

    await house.start();
    await answerTo(sandbox, mention.id, 0);
    await answerTo(sandbox, archived, 1);
    await answerTo(sandbox, direct, 1);
    await answerTo(sandbox, post, 0);
    await sandbox.until(() => botTexts(sandbox, open).join().includes("second"));
    await sandbox.until(() => botTexts(sandbox, open).join(" | ").replaceAll("heard: ", "") === "one | first | second");
    expect(botTexts(sandbox, archived)).toEqual(["heard: two", "heard: are you there?"]);
    expect(botTexts(sandbox, direct)).toEqual(["heard: in private", "heard: and here?"]);
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: a new question"]);
    expect(sandbox.findChannel(everyone.id)).toBeUndefined();
    expect(await caughtUp(house, 2)).toMatchObject({ messages: 6, left: 0 });

    // A call that says nothing was told so, and is not told again.
    bob.says(open, `<@${sandbox.bot.id}>`);
    await sandbox.until(() => botTexts(sandbox, open).length === 4);

    // Once more, with nothing new: nothing is said again.
    const calls = model.shown.length;
    await (await house.start()).quiet();
    expect(await caughtUp(house, 3)).toMatchObject({ left: 0 });
    expect(model.shown).toHaveLength(calls);
    expect(botTexts(sandbox, open)).toHaveLength(4);
  });

  it("of which the store knows nothing, since it is new, no channel is looked into", async () => {
    const model = echo();
    const house = await openHouse({ model });
    const { sandbox } = house;
    sandbox.owner.mentions(sandbox.bot, "before the bot came");
    const started = await house.start();
    expect(await caughtUp(house, 1)).toMatchObject({ messages: 0, channels: 0 });
    await started.quiet();
    expect(sandbox.threads()).toEqual([]);
    expect(sandbox.counters.requests["GET /channels/:id/messages"]).toBeUndefined();
  });

  it("no more is heard than is allowed, and a noisy channel leaves the others theirs", async () => {
    const model = answeringModel(({ questions }) => `heard ${questions.length}: ${questions.at(-1)}`);
    const house = await openHouse({ model });
    const { sandbox } = house;
    const first = await house.start();
    const noisy = await opensThread(sandbox, sandbox.owner, "noisy");
    const quiet = await opensThread(sandbox, sandbox.owner, "quiet");
    await first.stop();
    for (let number = 1; number <= 30; number += 1) sandbox.owner.says(noisy, `noise ${number}`);
    sandbox.owner.says(quiet, "a word");
    sandbox.owner.says(quiet, "another word");
    await house.start({ bot: { catchUp: { hours: 24, messages: 6, since: new Date() } } });
    expect(await caughtUp(house, 2)).toMatchObject({ messages: 6, left: 26 });
    await sandbox.until(() => botTexts(sandbox, quiet).join().includes("another word"));
    await sandbox.until(() => botTexts(sandbox, noisy).join().includes("noise 30"));
    const heard = model.shown.flatMap(({ questions }) => questions);
    expect(heard.filter((text) => text.startsWith("noise "))).toEqual(["noise 27", "noise 28", "noise 29", "noise 30"]);
    expect(heard.filter((text) => text.endsWith(" word"))).toEqual(["a word", "another word"]);
  });

  it("what is too old is not answered, and with 0 hours nothing is", async () => {
    const model = echo();
    const { house, sandbox, thread } = await leftThread(model);
    sandbox.owner.says(thread, "are you there?");
    sandbox.owner.mentions(sandbox.bot, "are you there?");
    const catchUp = { messages: 200, since: new Date(0) };
    const off = await house.start({ bot: { catchUp: { ...catchUp, hours: 0 } } });
    await off.quiet();
    await off.stop();
    // So short that everything is older.
    const short = await house.start({ bot: { catchUp: { ...catchUp, hours: 1e-9 } } });
    expect(await caughtUp(house, 2)).toMatchObject({ messages: 0 });
    await short.quiet();
    expect(model.shown).toHaveLength(1);
  });

  it("what was deleted meanwhile in a known thread is gone from the session and from the file", async () => {
    const model = answeringModel(() => "noted");
    const house = await openHouse({ model });
    const { sandbox } = house;
    const first = await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const secret = sandbox.owner.says(thread, "the word is quixotically");
    await answerTo(sandbox, thread, 1);
    await asks(sandbox, sandbox.owner, thread, "remember it");
    const last = sandbox.owner.says(thread, "and sesquipedalian");
    await answerTo(sandbox, thread, 3);
    await first.stop();
    sandbox.owner.deletes(secret);
    sandbox.owner.deletes(last);
    const second = await house.start();
    expect(await caughtUp(house, 2)).toMatchObject({ messages: 0, erasedIn: 1 });
    const session = await second.sessions.get(`discord:${thread.id}`);
    expect(JSON.stringify(session)).toContain("remember it");
    expect(JSON.stringify(session)).toContain("hello");
    expect(JSON.stringify(session)).not.toMatch(/quixotically|sesquipedalian/);
    await second.stop();
    const names = ["sessions.sqlite", "sessions.sqlite-wal"];
    const files = names.map((name) => readFile(`${house.folder}/${name}`, "latin1").catch(() => ""));
    expect((await Promise.all(files)).join()).not.toMatch(/quixotically|sesquipedalian/);
  });

  it("what waited for its turn when the process died is answered as it is by then: reworded, or not at all", async () => {
    const busy = gate();
    const model = answeringModel(({ questions }) => {
      const text = `heard: ${questions.join(" | ")}`;
      return questions[0] === "a long one" ? busy.opened.then(() => text) : Promise.resolve(text);
    });
    const house = await openHouse({ model });
    const { sandbox } = house;
    const first = await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    sandbox.owner.says(thread, "a long one");
    await vi.waitUntil(() => model.shown.length === 2);
    const taken = sandbox.owner.says(thread, "the word is quixotically");
    const reworded = sandbox.owner.says(thread, "tomorow?");
    await vi.waitUntil(async () => (await first.sessions.waiting(`discord:${thread.id}`)).length === 2);
    await first.crash();
    sandbox.owner.deletes(taken);
    sandbox.owner.edits(reworded, "tomorrow?");
    busy.open();
    const second = await house.start();
    await sandbox.until(() => botTexts(sandbox, thread).includes("heard: tomorrow?"));
    await second.quiet();
    expect(botTexts(sandbox, thread)).toEqual(["heard: one", "heard: a long one", "heard: tomorrow?"]);
    expect(model.shown.map(({ prompt }) => prompt).join()).not.toMatch(/quixotically|tomorow/);
  });

  it("a call whose thread was opened, and that then was lost, is answered there, before what was said in the thread", async () => {
    const never = gate();
    const house = await openHouse({ model: echo() });
    const { sandbox } = house;
    const first = await house.start();
    // The answer of the request that opens the thread never comes: the process dies meanwhile.
    const end = sandbox.faults.slow({ route: "POST /channels/:id/messages/:id/threads", ms: 60_000 });
    const mention = sandbox.owner.mentions(sandbox.bot, "what is it?");
    await vi.waitUntil(() => sandbox.counters.requests["POST /channels/:id/messages/:id/threads"] === 1);
    await first.crash();
    end();
    never.open();
    await house.start();
    await answerTo(sandbox, mention.id, 0);
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: what is it?"]);
  });

  it("a place that may not be read holds up nothing", async () => {
    const house = await openHouse({ model: echo() });
    const { sandbox } = house;
    const first = await house.start();
    const shut = sandbox.createChannel("shut");
    const inside = sandbox.owner.mentions(sandbox.bot, "inside", shut);
    await answerTo(sandbox, inside.id, 0);
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    await first.stop();
    sandbox.owner.says(inside.id, "nobody reads this");
    sandbox.owner.says(thread, "are you there?");
    sandbox.faults.takeAway("ReadMessageHistory", { in: shut });
    const second = await house.start();
    await answerTo(sandbox, thread, 1);
    await caughtUp(house, 2);
    expect(house.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    const kept = await second.sessions.get(`discord:${inside.id}`);
    expect(JSON.stringify(kept)).toContain("inside");
  });

  it("what could not be read at first is answered all the same", async () => {
    const house = await openHouse({ model: echo() });
    const { sandbox, logged } = house;
    const first = await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    await first.stop();
    sandbox.owner.says(thread, "are you there?");
    const mention = sandbox.owner.mentions(sandbox.bot, "a new question");
    // More often than discord.js repeats it.
    sandbox.faults.fail({ route: "GET /channels/:id/messages", status: 500, times: 8 });
    const second = await house.start({ awaitsCatchUp: false });
    await answerTo(sandbox, thread, 1);
    await answerTo(sandbox, mention.id, 0);
    await second.quiet();
    expect(botTexts(sandbox, thread)).toEqual(["heard: one", "heard: are you there?"]);
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: a new question"]);
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it("who was told that it came to nothing is not answered out of the blue", async () => {
    const model = echo();
    const house = await openHouse({ model });
    const { sandbox } = house;
    const first = await house.start();
    sandbox.faults.fail({ route: "POST /channels/:id/messages/:id/threads", status: 500, times: 4 });
    const mention = sandbox.owner.mentions(sandbox.bot, "a question");
    await answerTo(sandbox, "general", 0);
    await first.stop();
    const second = await house.start();
    await second.quiet();
    expect(await caughtUp(house, 2)).toMatchObject({ messages: 0, channels: 1 });
    expect(sandbox.findChannel(mention.id)).toBeUndefined();
    expect([botMessages(sandbox, "general").length, model.shown.length]).toEqual([1, 0]);
  });

  it("leaves Discord's limits alone, with very many threads", async () => {
    const house = await openHouse({ model: echo() });
    const { sandbox } = house;
    const first = await house.start();
    const threads = await Promise.all(
      Array.from({ length: 30 }, (_, number) => opensThread(sandbox, sandbox.owner, `thread ${number}`)),
    );
    await first.stop();
    for (const thread of threads) sandbox.owner.says(thread, "are you there?");
    await house.start();
    for (const thread of threads) await answerTo(sandbox, thread, 1);
    expect(sandbox.counters.rateLimited).toBe(0);
    for (const thread of threads) expect(botMessages(sandbox, thread)).toHaveLength(2);
  });
});

describe("a message that comes while it is being caught up", () => {
  it("waits behind what was said before it, in its thread, and nowhere else", async () => {
    const model = echo();
    const { house, sandbox, thread } = await leftThread(model);
    sandbox.owner.says(thread, "before");
    sandbox.faults.slow({ route: "GET /channels/:id/messages", ms: 1_500, times: 2 });
    await house.start({ awaitsCatchUp: false });
    const live = sandbox.owner.says(thread, "after");
    const elsewhere = sandbox.owner.mentions(sandbox.bot, "elsewhere", sandbox.createChannel("mills"));
    await answerTo(sandbox, elsewhere.id, 0);
    expect(botTexts(sandbox, thread)).toHaveLength(1);
    await sandbox.until(() => botTexts(sandbox, thread).join().includes("after"));
    // The page was read after the live message came, so that it stands on it too.
    expect(live.channelId).toBe(thread.id);
    const heard = model.shown.flatMap(({ questions }) => questions);
    expect(heard.filter((text) => text !== "elsewhere")).toEqual(["one", "before", "after"]);
  });

  it("and is deleted meanwhile is not answered", async () => {
    const model = echo();
    const { house, sandbox, thread } = await leftThread(model);
    const missed = sandbox.owner.says(thread, "never mind");
    sandbox.owner.says(thread, "but this");
    sandbox.faults.slow({ route: "GET /channels/:id/messages", ms: 1_000, times: 2 });
    const second = await house.start({ awaitsCatchUp: false });
    const live = sandbox.owner.says(thread, "never mind this either");
    sandbox.owner.deletes(missed);
    sandbox.owner.deletes(live);
    await sandbox.until(() => botTexts(sandbox, thread).join().includes("but this"));
    await second.quiet();
    expect(model.shown.flatMap(({ questions }) => questions)).toEqual(["one", "but this"]);
  });
});

describe("a connection that could not be resumed", () => {
  it("misses nothing of what was said meanwhile, and says nothing twice", async () => {
    const model = echo();
    const house = await openHouse({ model });
    const { sandbox } = house;
    await house.start();
    await caughtUp(house, 1);
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    sandbox.faults.dropSockets({ resumable: false });
    sandbox.owner.says(thread, "are you there?");
    const mention = sandbox.owner.mentions(sandbox.bot, "a new question");
    expect(await caughtUp(house, 2)).toMatchObject({ messages: expect.any(Number) });
    await answerTo(sandbox, mention.id, 0);
    await answerTo(sandbox, thread, 1);
    await asks(sandbox, sandbox.owner, thread, "and now?");
    expect(botTexts(sandbox, thread)).toEqual(["heard: one", "heard: are you there?", "heard: and now?"]);
    expect(model.shown).toHaveLength(4);
  }, 60_000);

  it("in the midst of catching up misses nothing either, and keeps the order", async () => {
    const model = echo();
    const { house, sandbox, thread } = await leftThread(model);
    sandbox.owner.says(thread, "two");
    sandbox.faults.slow({ route: "GET /channels/:id/messages", ms: 1_500, times: 3 });
    await house.start({ awaitsCatchUp: false });
    sandbox.owner.says(thread, "three");
    sandbox.faults.dropSockets({ resumable: false });
    sandbox.owner.says(thread, "four");
    const mention = sandbox.owner.mentions(sandbox.bot, "a new question");
    await caughtUp(house, 3);
    await answerTo(sandbox, mention.id, 0);
    await sandbox.until(() => botTexts(sandbox, thread).join().includes("four"));
    expect(botTexts(sandbox, thread).join(" | ").replaceAll("heard: ", "")).toBe("one | two | three | four");
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: a new question"]);
  }, 60_000);

  it("and a message that is on its page and comes live again is answered once", async () => {
    const model = echo();
    const { house, sandbox, thread } = await leftThread(model);
    const missed = sandbox.owner.says(thread, "only once");
    const mention = sandbox.owner.mentions(sandbox.bot, "and this once");
    const second = await house.start({ awaitsCatchUp: false });
    sandbox.faults.redeliver(missed);
    sandbox.faults.redeliver(mention);
    await answerTo(sandbox, thread, 1);
    await answerTo(sandbox, mention.id, 0);
    sandbox.faults.redeliver(missed);
    sandbox.faults.redeliver(mention);
    await asks(sandbox, sandbox.owner, thread, "go on");
    await second.quiet();
    expect(botTexts(sandbox, thread)).toEqual(["heard: one", "heard: only once", "heard: go on"]);
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: and this once"]);
    expect(model.shown).toHaveLength(4);
  });
});
