import { describe, expect, it, onTestFinished, vi } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse } from "./support/house.ts";
import { asks, botTexts, opensThread } from "./support/talk.ts";

describe("the main job", () => {
  it("mention, thread, three turns, a restart, a plain message: answered without a mention, with the earlier turns in the model's call", async () => {
    const model = answeringModel(({ questions }) => [`You said: ${questions.join(" | ")}`]);
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const ada = sandbox.owner;

    const mention = ada.mentions(sandbox.bot, "the deadline is Dec 27");
    await sandbox.until(() => sandbox.findChannel(mention.id));
    await sandbox.nextMessage(mention.id, ({ authorId }) => authorId === sandbox.bot.id);
    for (const words of ["and the place is Lisbon", "bring the slides"]) {
      const answered = sandbox.nextMessage(
        mention.id,
        ({ content }) => content.includes(`You said: `) && content.includes(words),
      );
      ada.says(mention.id, words);
      await answered;
    }
    await first.stop();
    await start();
    const answered = sandbox.nextMessage(mention.id, ({ authorId }) => authorId === sandbox.bot.id);
    ada.says(mention.id, "what do you remember?");
    await answered;

    expect(model.shown).toHaveLength(4);
    const prompt = model.shown[3]?.prompt ?? "";
    const places = [
      "the deadline is Dec 27",
      "and the place is Lisbon",
      "bring the slides",
      "what do you remember?",
    ].map((words) => prompt.indexOf(words));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(sandbox.threads().map(({ name }) => name)).toEqual(["the deadline is Dec 27"]);
    expect(sandbox.counters.rateLimited).toBe(0);
    expect(sandbox.counters.unknown).toEqual([]);
  });

  it("goes on in a thread that was archived while the bot was away", async () => {
    const model = answeringModel(({ questions }) => `You said: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "the deadline is Dec 27");
    await first.stop();
    sandbox.owner.archives(thread);
    await start();
    const answer = await asks(sandbox, sandbox.owner, thread, "are you there?");
    expect(answer.content).toBe("You said: are you there?");
    expect(model.shown[1]?.prompt).toContain("the deadline is Dec 27");
  });

  it("goes on after two years of silence as if it had been a minute: sessions don't expire", async () => {
    const model = answeringModel(({ questions }) => `You said: ${questions.join(" | ")}`);
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "the deadline is Dec 27");
    await first.stop();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 365 * 24 * 60 * 60 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    await start();
    const answer = await asks(sandbox, sandbox.owner, thread, "are you there?");
    expect(answer.content).toBe("You said: are you there?");
    expect(model.shown[1]?.prompt).toContain("the deadline is Dec 27");
    expect(botTexts(sandbox, thread)).toHaveLength(2);
  });
});
