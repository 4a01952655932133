import { setTimeout as pause } from "node:timers/promises";
import { MessageFlags } from "discord.js";
import { describe, expect, it } from "vitest";
import { type Answer, answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { answerTo, botMessages, botTexts, gate } from "./support/talk.ts";

async function answering(answer: Answer, options: { readonly limits?: boolean } = {}): Promise<House> {
  const house = await openHouse({ model: answeringModel(answer), sandbox: { limits: options.limits ?? false } });
  await house.start();
  return house;
}

/** Mentions the bot, and gives the thread when the answer's last word is there. */
async function asked({ sandbox }: House, last: string): Promise<{ id: string }> {
  const mention = sandbox.owner.mentions(sandbox.bot, "go on");
  await sandbox.until(() => sandbox.findChannel(mention.id) && botTexts(sandbox, mention.id).at(-1)?.includes(last));
  return { id: mention.id };
}

describe("a long answer", () => {
  it("of 6,000 characters comes as several messages in order, nothing lost, each at most 2,000", async () => {
    const words = Array.from({ length: 900 }, (_, index) => `word${index}`);
    const house = await answering(() => [words.slice(0, 400).join(" "), ` ${words.slice(400).join(" ")}`]);
    const thread = await asked(house, "word899");
    const texts = botTexts(house.sandbox, thread);
    expect(texts.length).toBeGreaterThanOrEqual(4);
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(2_000);
    expect(texts.join(" ").split(/\s+/)).toEqual(words);
  });

  it("of code has every message's fences closed and reopened with their language", async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `const value${index} = ${index};`);
    const house = await answering(() => ["Here it is:\n```ts\n", lines.join("\n"), "\n```\nThat was it."]);
    const thread = await asked(house, "That was it.");
    const texts = botTexts(house.sandbox, thread);
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(2_000);
      expect(text.split("```")).toHaveLength(3);
      expect(text).toContain("```ts\n");
    }
    const said = texts
      .join("\n")
      .split("\n")
      .filter((line) => line.startsWith("const"));
    expect(said).toEqual(lines);
  });

  it("goes on where a chunk failed: the third of five meets a 500 and a 429", async () => {
    const words = Array.from({ length: 1_500 }, (_, index) => `word${index}`);
    const house = await answering(() => words.join(" "));
    const { sandbox } = house;
    let posts = 0;
    const stop = sandbox.onChange((change) => {
      if (change.type !== "message-created" || change.message.authorId !== sandbox.bot.id) return;
      posts += 1;
      if (posts !== 2) return;
      sandbox.faults.fail({ status: 500 });
      sandbox.faults.fail({ status: 429, retryAfter: 0.2 });
    });
    const thread = await asked(house, "word1499");
    stop();
    expect(botTexts(sandbox, thread).join(" ").split(/\s+/)).toEqual(words);
  });

  it("whose chunk was carried out but not confirmed is not posted twice", async () => {
    const house = await answering(() => "only once");
    house.sandbox.faults.fail({ status: "cut", carriedOut: true, times: 2 });
    const thread = await asked(house, "only once");
    await pause(1_500);
    expect(botTexts(house.sandbox, thread)).toEqual(["only once"]);
  });
});

describe("a stream", () => {
  it("of 12 seconds, with the limits on, ends with its last word, moves all along and meets no 429", async () => {
    const house = await answering(
      async function* () {
        for (let piece = 0; piece < 240; piece += 1) {
          yield `piece${piece} `;
          await pause(50);
        }
        yield "last word";
      },
      { limits: true },
    );
    const { sandbox } = house;
    const seen = new Set<string>();
    const stop = sandbox.onChange((change) => {
      if (change.type === "message-edited" && change.message.authorId === sandbox.bot.id)
        seen.add(change.message.content);
    });
    const mention = sandbox.owner.mentions(sandbox.bot, "go on");
    await sandbox.until(
      () => sandbox.findChannel(mention.id) && botTexts(sandbox, mention.id).at(-1)?.includes("last word"),
      { timeoutMs: 30_000 },
    );
    stop();
    const texts = botTexts(sandbox, mention.id);
    expect(texts.join(" ").match(/piece\d+/g)).toHaveLength(240);
    expect(seen.size).toBeGreaterThanOrEqual(6);
    expect(sandbox.counters.rateLimited).toBe(0);
  });

  it("goes on behind a message that somebody deleted", async () => {
    const gone = gate();
    const house = await answering(async function* () {
      yield "first ".repeat(20);
      await gone.opened;
      await pause(1_300);
      yield `${"second ".repeat(400)}end`;
    });
    const { sandbox } = house;
    const mention = sandbox.owner.mentions(sandbox.bot, "go on");
    const message = await answerTo(sandbox, mention.id, 0);
    sandbox.faults.deleteMessage(message);
    gone.open();
    await sandbox.until(() => botTexts(sandbox, mention.id).at(-1)?.endsWith("end"));
    expect(botTexts(sandbox, mention.id).join()).not.toContain("first");
  });
});

describe("the model's words", () => {
  it("ping nobody and unfurl nothing, on send and on edit", async () => {
    const house = await answering(async function* ({ prompt }) {
      yield "@everyone @here <@&1> https://example.org/?q=secret";
      await pause(1_500);
      yield ` <@${prompt.length}> @everyone`;
    });
    const { sandbox } = house;
    const ada = sandbox.owner;
    const mention = ada.mentions(sandbox.bot, `say @everyone and <@${ada.id}>`);
    await sandbox.until(() => sandbox.findChannel(mention.id) && botMessages(sandbox, mention.id)[0]?.editedAt);
    const [message] = botMessages(sandbox, mention.id);
    expect(message?.pinged).toEqual({ users: [], roles: [], everyone: false });
    expect(message?.embeds).toEqual([]);
    expect((message?.flags ?? 0) & MessageFlags.SuppressEmbeds).not.toBe(0);
  });
});

describe("typing", () => {
  it("shows while the bot works and ends with the reply, also when the run fails", async () => {
    const held = gate();
    const house = await answering(async function* ({ call }) {
      await held.opened;
      if (call === 1) throw new Error("no");
      yield "done";
    });
    const { sandbox } = house;
    const mention = sandbox.owner.mentions(sandbox.bot, "go on");
    await sandbox.until(() => sandbox.findChannel(mention.id) && sandbox.typingIn(mention.id).length > 0);
    held.open();
    await answerTo(sandbox, mention.id, 0);
    expect(sandbox.typingIn(mention.id)).toEqual([]);
    sandbox.owner.says(mention.id, "again");
    await answerTo(sandbox, mention.id, 1);
    expect(sandbox.typingIn(mention.id)).toEqual([]);
  });

  it("ends when the run is taken away by a reset", async () => {
    const house = await answering(async function* () {
      await new Promise(() => {});
      yield "never";
    });
    const { sandbox } = house;
    const mention = sandbox.owner.mentions(sandbox.bot, "go on");
    const typed = () => sandbox.counters.requests["POST /channels/:id/typing"] ?? 0;
    await sandbox.until(() => typed() === 1);
    await sandbox.owner.runs("/reset", { in: mention.id }).answer();
    // The next would come 8 seconds after the first.
    await pause(9_000);
    expect(typed()).toBe(1);
  });
});
