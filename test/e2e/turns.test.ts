import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/tool.ts";
import { scriptedModel } from "../support/scripted-model.ts";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse } from "./support/house.ts";
import { answerTo, asks, botTexts, gate, opensThread } from "./support/talk.ts";

const forever = new Promise<never>(() => {});

describe("turns", () => {
  it("in two threads run side by side", async () => {
    const both = gate();
    let running = 0;
    const model = answeringModel(async function* ({ questions }) {
      running += 1;
      if (running === 2) both.open();
      await both.opened;
      yield `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    const threads = await Promise.all([
      opensThread(sandbox, sandbox.owner, "about apples"),
      opensThread(sandbox, sandbox.member("Bob"), "about pears"),
    ]);
    expect(threads.map((thread) => botTexts(sandbox, thread))).toEqual([
      ["heard: about apples"],
      ["heard: about pears"],
    ]);
    for (const { prompt } of model.shown) expect(prompt.includes("apples")).not.toBe(prompt.includes("pears"));
  });

  it("of two fast messages lose neither: answered in order or in one answer that sees both", async () => {
    const held = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      if (call === 1) await held.opened;
      yield `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "first");
    await vi.waitUntil(() => model.shown.length === 2);
    sandbox.owner.says(thread, "second");
    sandbox.owner.says(thread, "third");
    await pause(200);
    held.open();
    await sandbox.until(() => botTexts(sandbox, thread).at(-1)?.includes("third"));
    expect(model.shown.flatMap(({ questions }) => questions)).toEqual(["hello", "first", "second", "third"]);
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: first", "heard: second | third"]);
  });

  it("that fail end with one sentence in the thread, nothing of the error in it, and the next message works", async () => {
    const model = answeringModel(({ questions, call }) => {
      if (call === 1) throw new Error("key sk-abcdefghijklmnop at /home/owner/secret.txt was refused");
      return [`heard: ${questions.join(" | ")}`];
    });
    const { sandbox, start, logged } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const sorry = await asks(sandbox, sandbox.owner, thread, "and now?");
    expect(sorry.content).not.toMatch(/sk-abc|secret\.txt|refused/);
    expect(sorry.content.length).toBeGreaterThan(10);
    expect(JSON.stringify(logged)).not.toContain("sk-abcdefghijklmnop");
    await house.quiet();
    const next = await asks(sandbox, sandbox.owner, thread, "once more");
    // What was said in the turn that failed is not lost.
    expect(next.content).toBe("heard: and now? | once more");
  });

  it("past 50 that wait are refused with a word, and the others are answered", async () => {
    const held = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      if (call === 1) await held.opened;
      yield `heard ${questions.length}`;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "first");
    await vi.waitUntil(() => model.shown.length === 2);
    for (let number = 1; number <= 51; number += 1) sandbox.owner.says(thread, `more ${number}`);
    const refusal = await answerTo(sandbox, thread, 1);
    expect(refusal.content).toContain("50");
    held.open();
    await sandbox.until(() => botTexts(sandbox, thread).includes("heard 50"));
  });
});

describe("/reset", () => {
  it("while the model writes: the rest is neither stored nor posted, and the next turn starts empty", async () => {
    const late = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      if (call !== 1) return yield `heard: ${questions.join(" | ")}`;
      yield "the beginning";
      await late.opened;
      yield " and the end";
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "the secret is plum");
    sandbox.owner.says(thread, "tell me a story");
    await sandbox.until(() => botTexts(sandbox, thread).includes("the beginning"));
    const reset = sandbox.owner.runs("/reset", { in: thread });
    expect((await reset.answer()).content).toContain("Forgotten");
    late.open();
    await asks(sandbox, sandbox.owner, thread, "what do you know?");
    expect(model.shown[2]?.prompt).not.toMatch(/plum|story/);
    expect(botTexts(sandbox, thread).join()).not.toContain("and the end");
    const session = await house.sessions.get(`discord:${thread.id}`);
    expect(JSON.stringify(session)).not.toMatch(/plum|story|beginning/);
  });

  it("is for who opened the thread or may manage threads, and leaves other threads alone", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    const bob = sandbox.member("Bob");
    const moderator = sandbox.member("Mod", { permissions: ["ManageThreads"] });
    const one = await opensThread(sandbox, bob, "one");
    const other = await opensThread(sandbox, sandbox.owner, "other");
    await asks(sandbox, bob, other, "me too");
    expect((await bob.runs("/reset", { in: other }).answer()).content).toContain("Only who opened");
    expect((await bob.runs("/reset", { in: one }).answer()).content).toContain("Forgotten");
    await asks(sandbox, bob, other, "still there?");
    expect(model.shown.at(-1)?.prompt).toContain("me too");
    expect((await moderator.runs("/reset", { in: other }).answer()).content).toContain("Forgotten");
    expect((await moderator.runs("/reset", { in: "general" }).answer()).content).toContain("nothing to forget");
  });

  it("in somebody else's thread is for who made it, and what was said before comes not back as context", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    const bob = sandbox.member("Bob");
    const thread = bob.opensThread(bob.says("general", "mills"), "mills");
    await asks(sandbox, bob, thread, `<@${sandbox.bot.id}> the secret is plum`);
    expect((await sandbox.member("Eve").runs("/reset", { in: thread }).answer()).content).toContain("Only who opened");
    expect((await bob.runs("/reset", { in: thread }).answer()).content).toContain("Forgotten");
    bob.says(thread, "by the way, pears");
    await asks(sandbox, bob, thread, `<@${sandbox.bot.id}> what do you know?`);
    expect(model.shown[1]?.prompt).toContain("pears");
    expect(model.shown[1]?.prompt).not.toContain("plum");
  });
});

describe("/stop", () => {
  it("ends the run, frees the thread and keeps what was said", async () => {
    const model = answeringModel(async function* ({ questions, call }) {
      if (call !== 1) return yield `heard: ${questions.join(" | ")}`;
      yield "the beginning";
      await forever;
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const bob = sandbox.member("Bob");
    const thread = await opensThread(sandbox, bob, "hello");
    bob.says(thread, "tell me a story");
    await sandbox.until(() => botTexts(sandbox, thread).includes("the beginning"));
    expect((await sandbox.member("Eve").runs("/stop", { in: thread }).answer()).content).toContain("Only who asked");
    const stopped = await bob.runs("/stop", { in: thread }).answer();
    expect(stopped.onlyFor).toBe(bob.id);
    await sandbox.until(() => botTexts(sandbox, thread)[1] !== "the beginning");
    expect(botTexts(sandbox, thread)[1]).toMatch(/^the beginning\n+-# Stopped/);
    await asks(sandbox, bob, thread, "and now?");
    expect(model.shown[2]?.prompt).toContain("the beginning");
    await house.quiet();
    expect((await bob.runs("/stop", { in: thread }).answer()).content).toContain("nothing to stop");
  });

  it("of a run that nobody here drives is the person's own matter in a direct conversation", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const bob = sandbox.member("Bob");
    const direct = sandbox.directMessages(bob);
    await house.sessions.take(
      `discord:${direct.id}`,
      { id: "1", content: "taken up by a machine that is gone" },
      { create: true },
    );
    bob.says(direct, "anybody there?");
    await house.quiet();
    expect((await bob.runs("/stop", { in: direct }).answer()).content).toContain("gave up an answer");
    await sandbox.until(() => /heard: .*anybody there\?/.test(sandbox.text(direct)));
  });

  it("of a run that nobody here drives is told to who stops it alone, and what waits is answered in the thread", async () => {
    const model = answeringModel(async function* ({ questions }) {
      yield `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.member("Bob"), "hello");
    await house.quiet();
    await house.sessions.take(`discord:${thread.id}`, { id: "1", content: "taken up by a machine that is gone" });
    const question = sandbox.member("Bob").says(thread, "anybody there?");
    await house.quiet();
    const told = await sandbox.owner.runs("/stop", { in: thread }).answer();
    expect(told).toMatchObject({ onlyFor: sandbox.owner.id, content: expect.stringContaining("gave up an answer") });
    const answer = await answerTo(sandbox, thread, 1);
    expect(answer.content).toContain("anybody there?");
    expect(answer.reference?.messageId).toBe(question.id);
  });
});

describe("a run that hangs", () => {
  it("in a provider that never returns ends at its deadline with a sentence, and what waits goes on", async () => {
    const model = answeringModel(async function* ({ questions, call }) {
      if (call === 1) await forever;
      yield `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model, agent: { deadlineMs: 1_500 } });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "this hangs");
    await vi.waitUntil(() => model.shown.length === 2);
    sandbox.owner.says(thread, "and this waits");
    await sandbox.until(() => botTexts(sandbox, thread).at(-1)?.includes("and this waits"));
    const [, sorry, answer] = botTexts(sandbox, thread);
    expect(sorry).toContain("took longer than I may work on one answer");
    expect(answer).toContain("and this waits");
    expect(botTexts(sandbox, thread)).toHaveLength(3);
  });

  it("in a tool that never returns is freed by a stop, and what waits goes on", async () => {
    const hang = defineTool({
      name: "hang",
      description: "Never returns, and heeds no signal.",
      input: z.object({}),
      run: () => forever,
    });
    const model = scriptedModel([["Hello."], [{ tool: "hang", input: {} }], ["Here I am."]]);
    const { sandbox, start } = await openHouse({ model, agent: { tools: [hang] } });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "use the tool");
    await sandbox.until(() => sandbox.text(thread).includes("hang"));
    sandbox.owner.says(thread, "and this waits");
    await sandbox.owner.runs("/stop", { in: thread }).answer();
    await sandbox.until(() => botTexts(sandbox, thread).at(-1) === "Here I am.");
    await house.quiet();
    expect(model.promptOf(2)).toContain("and this waits");
    expect(model.promptOf(2)).toContain("interrupted");
  });
});

describe("the end of the process", () => {
  it("lets a run that is nearly done finish, and draws it", async () => {
    const model = answeringModel(async function* () {
      yield "one";
      await pause(300);
      yield " two";
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "count");
    await house.stop();
    expect(botTexts(sandbox, thread)).toEqual(["one two"]);
  });

  it("leaves a run that doesn't end in time to the next process, which goes on in the message that is there", async () => {
    const model = answeringModel(async function* ({ call, questions }) {
      if (call !== 1) return yield `heard: ${questions.join(" | ")}`;
      yield "the beginning";
      await forever;
    });
    const { sandbox, start } = await openHouse({ model, graceMs: 300 });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.owner.says(thread, "tell me a story");
    await sandbox.until(() => botTexts(sandbox, thread).includes("the beginning"));
    await house.stop();
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "the beginning"]);
    await start();
    await sandbox.until(() => botTexts(sandbox, thread)[1] === "heard: tell me a story");
    await asks(sandbox, sandbox.owner, thread, "are you back?");
    expect(model.shown[3]?.prompt).toContain("tell me a story");
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: tell me a story", "heard: are you back?"]);
  });

  it("takes in nothing more", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const stopped = house.stop();
    sandbox.owner.says(thread, "too late");
    await stopped;
    expect(model.shown).toHaveLength(1);
  });

  it("by a crash leaves a turn that the next start answers, in its place", async () => {
    const model = answeringModel(async function* ({ call, questions }) {
      if (call === 1) await forever;
      yield `heard: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const question = sandbox.owner.says(thread, "still here?");
    await vi.waitUntil(() => model.shown.length === 2);
    await house.crash();
    await start();
    const answer = await answerTo(sandbox, thread, 1);
    expect(answer.content).toContain("still here?");
    expect(answer.reference?.messageId).toBe(question.id);
  }, 30_000);
});
