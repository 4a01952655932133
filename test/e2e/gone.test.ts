import { describe, expect, it, vi } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse, type RunningHouse } from "./support/house.ts";
import { answerTo, asks, botTexts, gate, opensThread } from "./support/talk.ts";

const echo = () => answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);

async function sessionsOf({ sessions }: RunningHouse): Promise<string[]> {
  return (await sessions.list()).map(({ sessionId }) => sessionId).sort();
}

function becomes(house: RunningHouse, ...channels: { readonly id: string }[]): Promise<unknown> {
  const wanted = channels.map(({ id }) => `discord:${id}`).sort();
  return vi.waitUntil(async () => (await sessionsOf(house)).join() === wanted.join(), { timeout: 10_000 });
}

describe("a thread that is deleted", () => {
  it("takes its session along, and the answer that is under way there: nothing is drawn, nobody types", async () => {
    const held = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      yield "heard";
      if (call === 2) await held.opened;
      yield `: ${questions.join(" | ")}`;
    });
    const { sandbox, start, logged } = await openHouse({ model });
    const house = await start();
    const stays = await opensThread(sandbox, sandbox.owner, "one");
    const goes = await opensThread(sandbox, sandbox.owner, "two");
    await becomes(house, stays, goes);
    sandbox.owner.says(goes, "a long story");
    await sandbox.until(() => botTexts(sandbox, goes).includes("heard"));
    sandbox.faults.deleteChannel(goes.id);
    await becomes(house, stays);
    await house.quiet();
    await vi.waitUntil(() => !sandbox.isAnybodyTyping, { timeout: 15_000 });
    held.open();
    await asks(sandbox, sandbox.owner, stays, "still there?");
    expect(await sessionsOf(house)).toEqual([`discord:${stays.id}`]);
    // A request may have been on its way.
    expect(logged.filter(({ level, code }) => Number(level) >= 50 && code !== 10003)).toEqual([]);
  }, 30_000);
});

describe("an archived thread that is deleted", () => {
  it("takes its session along, though nothing was seen of it since the start", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    await first.quiet();
    sandbox.owner.archives(thread);
    await first.stop();
    const second = await start({ bot: { catchUp: { hours: 0, messages: 1, since: undefined } } });
    await becomes(second, thread);
    sandbox.faults.deleteChannel(thread.id);
    await becomes(second);
  });
});

describe("a channel that is deleted", () => {
  it("takes the sessions of all its threads along", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const house = await start();
    const mills = sandbox.createChannel("mills");
    const stays = await opensThread(sandbox, sandbox.owner, "one");
    const goes: { id: string }[] = [];
    for (const text of ["two", "three"]) {
      const mention = sandbox.owner.mentions(sandbox.bot, text, mills);
      await answerTo(sandbox, mention.id, 0);
      goes.push(mention);
    }
    await becomes(house, stays, ...goes);
    sandbox.faults.deleteChannel(mills);
    await becomes(house, stays);
  });

  it("while the bot was away does so too, and a thread likewise", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const first = await start();
    const mills = sandbox.createChannel("mills");
    const stays = await opensThread(sandbox, sandbox.owner, "one");
    const thread = await opensThread(sandbox, sandbox.owner, "two");
    const inMills = sandbox.owner.mentions(sandbox.bot, "three", mills);
    await answerTo(sandbox, inMills.id, 0);
    await becomes(first, stays, thread, inMills);
    await first.stop();
    sandbox.faults.deleteChannel(mills);
    sandbox.faults.deleteChannel(thread.id);
    await becomes(await start(), stays);
  });

  it("is not one that the bot only may not see any more", async () => {
    const { sandbox, start, logged } = await openHouse({ model: echo() });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    await first.stop();
    sandbox.faults.takeAway("ViewChannel", { in: "general" });
    const second = await start();
    await vi.waitUntil(() => logged.filter(({ msg }) => String(msg).includes("caught up")).length === 2);
    await becomes(second, thread);
  });
});

describe("a server that was left", () => {
  it("takes its sessions along, and no other's", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const house = await start();
    const stays = await opensThread(sandbox, sandbox.owner, "one");
    const other = sandbox.createGuild("Other");
    const channel = sandbox.createChannel("elsewhere", { guild: other });
    const mention = sandbox.owner.mentions(sandbox.bot, "two", channel);
    await answerTo(sandbox, mention.id, 0);
    await becomes(house, stays, mention);
    sandbox.faults.removeBot(other);
    await becomes(house, stays);
  });

  it("while the bot was away does so too; another bot's on the same store, and direct conversations, stay", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const first = await start();
    const other = sandbox.createGuild("Other");
    const channel = sandbox.createChannel("elsewhere", { guild: other });
    const mention = sandbox.owner.mentions(sandbox.bot, "two", channel);
    await answerTo(sandbox, mention.id, 0);
    const direct = sandbox.directMessages(sandbox.owner);
    await asks(sandbox, sandbox.owner, direct, "hello");
    const places = ["discord:99:guild:77", "discord:99:channel:78"];
    await first.sessions.take("discord:79", { id: "1", content: "hi", places }, { create: true });
    await becomes(first, mention, direct, { id: "79" });
    await first.stop();
    sandbox.faults.removeBot(other);
    await becomes(await start(), direct, { id: "79" });
  });
});

describe("an outage", () => {
  it("takes nothing along, be it during the start or later", async () => {
    const { sandbox, start, logged } = await openHouse({ model: echo() });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "one");
    await becomes(first, thread);
    const end = sandbox.faults.outage();
    await becomes(first, thread);
    await first.stop();
    const second = await start();
    await vi.waitUntil(() => logged.filter(({ msg }) => String(msg).includes("caught up")).length === 2, {
      timeout: 15_000,
    });
    await becomes(second, thread);
    end();
    await asks(sandbox, sandbox.owner, thread, "still there?");
    expect(botTexts(sandbox, thread)).toEqual(["heard: one", "heard: still there?"]);
  }, 30_000);
});
