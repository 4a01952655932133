import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse } from "./support/house.ts";
import { asks, botTexts, opensThread } from "./support/talk.ts";

describe("with Discord's limits on (5 in 5 s in a channel, 50 a second for the bot)", () => {
  it("20 messages 100 ms apart in one thread are all answered, each by exactly one turn, in order, and all remembered", async () => {
    const model = answeringModel(async function* ({ questions }) {
      await pause(150);
      yield `answers: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const words = Array.from({ length: 20 }, (_, index) => `message ${index + 1}.`);
    for (const text of words) {
      sandbox.owner.says(thread, text);
      await pause(100);
    }
    await sandbox.until(() => botTexts(sandbox, thread).join().includes("message 20."), { timeoutMs: 50_000 });
    await house.quiet();

    const answered = botTexts(sandbox, thread).flatMap((text) => text.replace("answers: ", "").split(" | "));
    expect(answered).toEqual(["hello", ...words]);
    const session = await house.sessions.get(`discord:${thread.id}`);
    const kept = JSON.stringify(session?.events);
    for (const text of words) expect(kept).toContain(text);
    const said = session?.events.filter(({ message }) => message.role === "user") ?? [];
    expect(said).toHaveLength(21);
    const turns = new Set(said.map(({ turn }) => turn));
    const answers = session?.events.filter(({ message }) => message.role === "assistant") ?? [];
    expect(answers.map(({ turn }) => turn)).toEqual([...turns]);
    expect(sandbox.counters.rateLimited).toBe(0);
  });

  it("100 existing threads with one message each at once are all answered, and no request meets a 429", async () => {
    const model = answeringModel(async function* ({ questions }) {
      yield "thinking ";
      await pause(20);
      yield `about ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const threads: { readonly id: string }[] = [];
    // Opening is not what is measured: ten at a time.
    for (let tens = 0; tens < 100; tens += 10) {
      const ten = Array.from({ length: 10 }, (_, index) =>
        opensThread(sandbox, sandbox.owner, `thread ${tens + index}`),
      );
      threads.push(...(await Promise.all(ten)));
      await house.quiet();
    }
    await pause(1_100);
    const before = sandbox.counters.requests["POST /channels/:id/messages"] ?? 0;
    for (const [number, thread] of threads.entries()) sandbox.owner.says(thread.id, `question ${number}`);
    await sandbox.until(
      () =>
        threads.every((thread, number) => botTexts(sandbox, thread.id).at(-1) === `thinking about question ${number}`),
      { timeoutMs: 50_000 },
    );
    await house.quiet();
    expect((sandbox.counters.requests["POST /channels/:id/messages"] ?? 0) - before).toBe(100);
    expect(sandbox.counters.rateLimited).toBe(0);
  });

  it("long answers in one channel, where no threads can be opened, all end with their last word", async () => {
    const model = answeringModel(async function* ({ questions }) {
      for (let piece = 0; piece < 20; piece += 1) {
        yield `piece${piece} `;
        await pause(100);
      }
      yield `end of ${questions.join(" and ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    sandbox.faults.limitActiveThreads(0);
    for (const number of [1, 2, 3]) sandbox.owner.mentions(sandbox.bot, `number ${number}`);
    // They share the channel's session: what comes during an answer is answered next, together.
    await sandbox.until(
      () =>
        ["end of number 1", "end of number 2 and number 3"].every((end) =>
          botTexts(sandbox, "general").some((text) => text.endsWith(end)),
        ),
      { timeoutMs: 40_000 },
    );
    expect(sandbox.counters.rateLimited).toBe(0);
  });

  it("a 429 all the same is waited out: nothing is lost, nothing said twice", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.fail({ status: 429, retryAfter: 0.3, times: 2 });
    sandbox.owner.says(thread, "and now?");
    await sandbox.until(() => botTexts(sandbox, thread).includes("heard: and now?"));
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: and now?"]);
    expect(sandbox.counters.rateLimited).toBe(2);
  });

  it("a 429 that holds up a channel in which many call at once holds up no other thread", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model, graceMs: 100 });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const busy = sandbox.createChannel("busy");
    const route = "POST /channels/:id/messages/:id/threads";
    sandbox.faults.fail({ route, channelId: busy.id, status: 429, retryAfter: 60 });
    for (let number = 0; number < 45; number += 1) {
      sandbox.member(`Caller ${number}`).mentions(sandbox.bot, `call ${number}`, busy);
    }
    await sandbox.until(() => sandbox.counters.rateLimited === 1);
    await pause(300);
    await asks(sandbox, sandbox.owner, thread, "are you there?");
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: are you there?"]);
    // All of them still wait behind the first.
    expect(sandbox.threads()).toHaveLength(1);
  });
});
