import { describe, expect, it, vi } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { type House, openHouse } from "./support/house.ts";
import { asks, botTexts, gate, opensThread } from "./support/talk.ts";

const callback = "POST /interactions/:id/:token/callback";

async function running(): Promise<House> {
  const house = await openHouse({ model: answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`) });
  await house.start({ bot: { modelName: "test:answering" } });
  return house;
}

describe("/help", () => {
  it("says what the bot can do, to who asked alone", async () => {
    const { sandbox } = await running();
    const answer = await sandbox.owner.runs("/help", { in: "general" }).answer();
    expect(answer.onlyFor).toBe(sandbox.owner.id);
    for (const part of ["/reset", "/stop", "/help", `<@${sandbox.bot.id}>`, "test:answering"]) {
      expect(answer.content).toContain(part);
    }
    expect(answer.pinged).toEqual({ users: [], roles: [], everyone: false });
  });

  it("works in a direct conversation", async () => {
    const { sandbox } = await running();
    const direct = sandbox.directMessages(sandbox.owner);
    expect((await sandbox.owner.runs("/help", { in: direct }).answer()).content).toContain("/reset");
  });
});

describe("/reset", () => {
  it("is for the person in a direct conversation, and told to everybody in a thread", async () => {
    const { sandbox } = await running();
    const direct = sandbox.directMessages(sandbox.owner);
    await asks(sandbox, sandbox.owner, direct, "hello");
    expect((await sandbox.owner.runs("/reset", { in: direct }).answer()).content).toContain("Forgotten");
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const answer = await sandbox.owner.runs("/reset", { in: thread }).answer();
    expect(answer.onlyFor).toBeUndefined();
    expect(botTexts(sandbox, thread).at(-1)).toContain("Forgotten");
  });

  it("in an archived thread that the bot has not seen since its start works", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    await first.stop();
    sandbox.owner.archives(thread);
    await start();
    expect((await sandbox.owner.runs("/reset", { in: thread }).answer()).content).toContain("Forgotten");
  });

  it("is for those who manage threads when the message that opened the thread is gone", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    await start();
    const bob = sandbox.member("Bob");
    const mention = bob.mentions(sandbox.bot, "hello");
    await sandbox.until(() => sandbox.findChannel(mention.id) && botTexts(sandbox, mention.id).length > 0);
    bob.deletes(mention);
    expect((await bob.runs("/reset", { in: mention.id }).answer()).content).toContain("Only who opened");
    expect((await sandbox.owner.runs("/reset", { in: mention.id }).answer()).content).toContain("Forgotten");
  });
});

describe("an answer in the channel, since no thread can be opened", () => {
  it("can be stopped and forgotten there, and is remembered until then", async () => {
    const words = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      yield `heard: ${questions.join(" | ")}`;
      if (call === 0) await words.opened;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    sandbox.faults.limitActiveThreads(0);
    sandbox.owner.mentions(sandbox.bot, "the secret is plum");
    await sandbox.until(() => botTexts(sandbox, "general").some((text) => text.includes("plum")));
    expect((await sandbox.owner.runs("/stop", { in: "general" }).answer()).content).toContain("Stopped");
    words.open();
    const said = async (text: string) => {
      sandbox.owner.mentions(sandbox.bot, text);
      await sandbox.until(() => botTexts(sandbox, "general").includes(`heard: ${text}`));
    };
    await said("do you remember?");
    expect(model.shown[1]?.prompt).toContain("plum");
    expect((await sandbox.owner.runs("/reset", { in: "general" }).answer()).content).toContain("Forgotten");
    await said("and now?");
    expect(model.shown[2]?.prompt).not.toContain("plum");
  });

  it("is forgotten for those who manage threads; others are told where they can have it", async () => {
    const { sandbox } = await running();
    const answer = await sandbox.member("Bob").runs("/reset", { in: "general" }).answer();
    expect(answer.content).toContain("in a thread");
    expect(answer.content).not.toContain("this thread");
  });
});

describe("a command", () => {
  it("whose token is dead, or that somebody else has answered, is left alone, and nothing crashes", async () => {
    const { sandbox, logged } = await running();
    const thread = await opensThread(sandbox, sandbox.owner, "the secret is plum");
    const warnings = () => logged.filter(({ level }) => Number(level) >= 40).length;
    sandbox.faults.fail({ route: callback, status: 404, code: 10062 });
    sandbox.owner.runs("/reset", { in: thread });
    await vi.waitUntil(() => warnings() === 1);
    sandbox.faults.fail({ route: callback, status: 400, code: 40060 });
    sandbox.owner.runs("/reset", { in: thread });
    await asks(sandbox, sandbox.owner, thread, "still there?");
    expect(warnings()).toBe(1);
    expect(botTexts(sandbox, thread)).toEqual(["heard: the secret is plum", "heard: still there?"]);
  });

  it("whose acknowledgement is carried out and its answer lost is answered all the same", async () => {
    const { sandbox } = await running();
    sandbox.faults.fail({ route: callback, status: 500, carriedOut: true });
    const help = await sandbox.owner.runs("/help", { in: "general" }).answer();
    expect(help.content).toContain("/reset");
    expect(help.onlyFor).toBe(sandbox.owner.id);
    sandbox.faults.fail({ route: callback, status: "cut", carriedOut: true });
    expect((await sandbox.owner.runs("/help", { in: "general" }).answer()).content).toContain("/reset");
  });

  it("whose answer fails is logged, and the next one works", async () => {
    const { sandbox, logged } = await running();
    sandbox.faults.fail({ route: /^PATCH \/webhooks/, status: 404, code: 10015 });
    sandbox.owner.runs("/help", { in: "general" });
    await vi.waitUntil(() => logged.some(({ level }) => Number(level) >= 40));
    expect((await sandbox.owner.runs("/help", { in: "general" }).answer()).content).toContain("/reset");
  });

  it("that Discord doesn't let through is answered with a sentence, not left thinking", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start, logged } = await openHouse({ model });
    const first = await start();
    const bob = sandbox.member("Bob");
    const thread = await opensThread(sandbox, bob, "hello");
    await first.stop();
    await start();
    const starter = "GET /channels/:id/messages/:id";
    for (const [fault, code] of [
      [{ status: 403, code: 50001 }, "DISCORD_FAILED"],
      [{ status: 500, times: 4 }, "DISCORD_UNREACHABLE"],
    ] as const) {
      sandbox.faults.fail({ route: starter, ...fault });
      const answer = await bob.runs("/reset", { in: thread }).answer();
      const { reference } = logged.find((line) => line["code"] === code) ?? {};
      expect(answer.content).toContain(`Reference: \`${reference}\``);
    }
    expect((await bob.runs("/reset", { in: thread }).answer()).content).toContain("Forgotten");
  });

  it("that waits for a slow request is acknowledged at once and answered later", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const bob = sandbox.member("Bob");
    const thread = await opensThread(sandbox, bob, "hello");
    await first.stop();
    await start();
    // Who opened the thread has to be asked of Discord, and it takes its time.
    sandbox.faults.slow({ route: "GET /channels/:id/messages/:id", ms: 3_500 });
    const reset = bob.runs("/reset", { in: thread });
    expect((await reset.acknowledgement()).status).toBe("deferred");
    expect(reset.messages).toEqual([]);
    expect((await reset.answer({ timeoutMs: 8_000 })).content).toContain("Forgotten");
  });
});
