import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, asks, botTexts, gate, opensThread } from "./support/talk.ts";

/** Answers the calls with these numbers only when the gate is open. */
function holding(opened: Promise<void>, ...held: number[]) {
  return answeringModel(async function* ({ questions, call }) {
    if (held.includes(call)) await opened;
    yield `heard: ${questions.join(" | ")}`;
  });
}

/** Resolves when the log says so. */
function says({ logged }: Pick<House, "logged">, message: string): Promise<unknown> {
  return vi.waitUntil(() => logged.some(({ msg }) => String(msg).includes(message)), { timeout: 10_000 });
}

describe("an edit", () => {
  it("of a message that waits is what is answered; of one whose turn has begun it is nothing", async () => {
    const held = gate();
    const model = holding(held.opened, 1);
    const house = await openHouse({ model });
    const { sandbox } = house;
    await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const running = sandbox.owner.says(thread, "first");
    await vi.waitUntil(() => model.shown.length === 2);
    const waiting = sandbox.owner.says(thread, "secnod");
    await pause(100);
    sandbox.owner.edits(running, "not this");
    sandbox.owner.edits(waiting, "second");
    await says(house, "reworded");
    held.open();
    await sandbox.until(() => botTexts(sandbox, thread).length === 3);
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: first", "heard: second"]);
  });

  it("of a call whose thread is being opened is what is answered there", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    sandbox.faults.slow({ route: "POST /channels/:id/messages/:id/threads", ms: 600 });
    const mention = sandbox.owner.mentions(sandbox.bot, "what is 2+3?");
    await pause(150);
    // Also where the call is taken out of it: one that was made stands.
    sandbox.owner.edits(mention, "what is 2+4?");
    await answerTo(sandbox, mention.id, 0);
    expect(botTexts(sandbox, mention.id)).toEqual(["heard: what is 2+4?"]);
  });

  it("that adds a mention is no call, and a link preview is no edit", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    const message = sandbox.owner.says("general", "hello there");
    sandbox.owner.edits(message, `<@${sandbox.bot.id}> hello there`);
    const thread = await opensThread(sandbox, sandbox.owner, "look at https://example.com/mill");
    await asks(sandbox, sandbox.owner, thread, "and at https://example.com/pond");
    expect(sandbox.threads()).toHaveLength(1);
    expect(model.shown).toHaveLength(2);
  });

  it("in a direct conversation that was not seen since the start counts too", async () => {
    const held = gate();
    const model = holding(held.opened, 0);
    const house = await openHouse({ model });
    const { sandbox } = house;
    const direct = sandbox.directMessages(sandbox.owner);
    const first = await house.start();
    sandbox.owner.says(direct, "first");
    await vi.waitUntil(() => model.shown.length === 1);
    const waiting = sandbox.owner.says(direct, "secnod");
    await pause(200);
    await first.crash();
    // What was being answered is begun anew, and the one behind it still waits: the channel is known to nobody.
    const again = answeringModel(async function* ({ questions, call }) {
      if (call === 0) await held.opened;
      yield `heard: ${questions.join(" | ")}`;
    });
    await house.start({ model: again });
    await vi.waitUntil(() => again.shown.length === 1);
    sandbox.owner.edits(waiting, "second");
    await says(house, "reworded");
    held.open();
    await sandbox.until(() => botTexts(sandbox, direct).at(-1) === "heard: second");
  });
});

describe("a deletion", () => {
  it("of a message that waits takes it from the queue, of one or of many", async () => {
    const held = gate();
    const model = holding(held.opened, 1);
    const house = await openHouse({ model });
    const { sandbox } = house;
    await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "first");
    await vi.waitUntil(() => model.shown.length === 2);
    const [one, two, three] = ["a plum", "a pear", "an apple"].map((text) => sandbox.owner.says(thread, text));
    sandbox.owner.says(thread, "last");
    await pause(200);
    if (!one || !two || !three) throw new Error("they were said");
    sandbox.owner.deletes(one);
    sandbox.faults.deleteMessages([two, three]);
    await vi.waitUntil(() => house.logged.filter(({ msg }) => String(msg).includes("forgotten")).length === 2);
    held.open();
    await sandbox.until(() => botTexts(sandbox, thread).length === 3);
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: first", "heard: last"]);
    expect(model.shown.at(-1)?.prompt).not.toMatch(/plum|pear|apple/);
  });

  it("of a call before its thread is there leaves no thread and no turn", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    // Many ask at once: the last one's thread is a long way off.
    sandbox.faults.slow({ route: "POST /channels/:id/messages/:id/threads", ms: 400, times: 3 });
    const mentions = [1, 2, 3].map((number) => sandbox.owner.mentions(sandbox.bot, `question ${number}`));
    const last = mentions[2];
    if (!last) throw new Error("it was said");
    await pause(100);
    sandbox.owner.deletes(last);
    await sandbox.until(() => sandbox.threads().length === 2);
    await house.quiet();
    expect(sandbox.threads()).toHaveLength(2);
    expect(model.shown.map(({ questions }) => questions[0]).sort()).toEqual(["question 1", "question 2"]);
  });

  it("while its turn runs lets the answer go on, and takes the words from the session and the file", async () => {
    const held = gate();
    const model = holding(held.opened, 1);
    const house = await openHouse({ model });
    const { sandbox } = house;
    const running = await house.start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const secret = sandbox.owner.says(thread, "the word is quixotically");
    await vi.waitUntil(() => model.shown.length === 2);
    sandbox.owner.deletes(secret);
    await says(house, "forgotten");
    held.open();
    await sandbox.until(() => botTexts(sandbox, thread)[1]?.startsWith("heard: the word"));
    await running.quiet();
    const session = await running.sessions.get(`discord:${thread.id}`);
    const said = (session?.events ?? []).filter(({ message }) => message.role === "user");
    expect(JSON.stringify(said)).not.toContain("quixotically");
    await asks(sandbox, sandbox.owner, thread, "go on");
    expect(model.shown.at(-1)?.prompt.split("quixotically")).toHaveLength(2);
  });

  it("of what was answered long ago leaves no byte of it in the file, be it the call in the channel or a word in between", async () => {
    const model = answeringModel(() => "noted");
    const house = await openHouse({ model });
    const { sandbox } = house;
    const running = await house.start();
    const mention = sandbox.owner.mentions(sandbox.bot, "the word is quixotically");
    await answerTo(sandbox, mention.id, 0);
    const second = sandbox.owner.says(mention.id, "and the other is sesquipedalian");
    await answerTo(sandbox, mention.id, 1);
    await running.quiet();
    expect(await bytes(house)).toMatch(/quixotically/);
    sandbox.owner.deletes(mention);
    sandbox.owner.deletes(second);
    await vi.waitUntil(() => house.logged.filter(({ msg }) => String(msg).includes("forgotten")).length === 2);
    await running.stop();
    expect(await bytes(house)).not.toMatch(/quixotically|sesquipedalian/);
  });

  it("in a direct conversation that was not seen since the start counts too", async () => {
    const model = answeringModel(() => "noted");
    const house = await openHouse({ model, bot: { catchUp: { hours: 0, messages: 1, since: undefined } } });
    const { sandbox } = house;
    const direct = sandbox.directMessages(sandbox.owner);
    const first = await house.start();
    const secret = sandbox.owner.says(direct, "the word is quixotically");
    await answerTo(sandbox, direct, 0);
    await first.quiet();
    await first.stop();
    const second = await house.start();
    sandbox.owner.deletes(secret);
    await says(house, "forgotten");
    expect(JSON.stringify(await second.sessions.get(`discord:${direct.id}`))).not.toContain("quixotically");
  });

  it("of messages that nobody heard, and of the bot's own, is nothing", async () => {
    const model = answeringModel(() => "noted");
    const house = await openHouse({ model });
    const { sandbox } = house;
    const running = await house.start();
    const message = sandbox.owner.says("general", "to nobody");
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const [answer] = sandbox.messages(thread).filter(({ authorId }) => authorId === sandbox.bot.id);
    sandbox.owner.deletes(message);
    if (answer) sandbox.faults.deleteMessage(answer);
    await asks(sandbox, sandbox.owner, thread, "go on");
    await running.quiet();
    expect(house.logged.filter(({ level, msg }) => Number(level) >= 40 || /forgotten/.test(String(msg)))).toEqual([]);
  });
});

async function bytes({ folder }: House): Promise<string> {
  const names = ["sessions.sqlite", "sessions.sqlite-wal"];
  const read = names.map((name) => readFile(`${folder}/${name}`, "latin1").catch(() => ""));
  return (await Promise.all(read)).join("");
}
