import { DiscordAPIError } from "discord.js";
import { beforeEach, describe, expect, it } from "vitest";
import { RequestBudget } from "../../src/discord/request-budget.ts";
import { takeBack } from "../../src/discord/taken-back.ts";
import { silentLogger } from "../../src/log.ts";
import { takenBackWording } from "../../src/reply/wording.ts";
import { MemoryChannels } from "./support/memory-channel.ts";

let channels: MemoryChannels;
const back = (asked: string) =>
  takeBack("thread", asked, { writer: channels, budget: new RequestBudget(), log: silentLogger });

function refused(code: number): DiscordAPIError {
  return new DiscordAPIError({ code, message: "no" }, code, 403, "DELETE", "http://discord", { files: [], body: {} });
}

beforeEach(() => {
  channels = new MemoryChannels();
});

describe("an answer that is taken back", () => {
  it("goes whole, and nothing else", async () => {
    channels.post("thread", "before", { replyTo: "other" });
    channels.post("thread", "one", { replyTo: "asked" });
    channels.post("thread", "two");
    channels.post("thread", "a notice", { replyTo: "asked", kind: "notice" });
    channels.post("thread", "after", { replyTo: "next" });
    expect(await back("asked")).toBe(true);
    expect(channels.text("thread")).toEqual(["before", "a notice", "after"]);
  });

  it("in the thread that was opened on its question is what stands before the first reply", async () => {
    channels.post("thread", "one");
    channels.post("thread", "two");
    channels.post("thread", "after", { replyTo: "next" });
    expect(await back("thread")).toBe(true);
    expect(channels.text("thread")).toEqual(["after"]);
  });

  it("in a forum's post replies to the post itself", async () => {
    channels.post("thread", "one", { replyTo: "thread" });
    channels.post("thread", "after", { replyTo: "next" });
    expect(await back("thread")).toBe(true);
    expect(channels.text("thread")).toEqual(["after"]);
  });

  it("is looked for again, since some of it may still have been on its way", async () => {
    channels.post("thread", "one", { replyTo: "asked" });
    const { remove } = channels;
    channels.remove = async (...args) => {
      channels.remove = remove.bind(channels);
      await remove.apply(channels, args);
      channels.post("thread", "late", { replyTo: "asked" });
    };
    expect(await back("asked")).toBe(true);
    expect(channels.text("thread")).toEqual([]);
  });

  it("and that somebody else has deleted meanwhile is gone all the same", async () => {
    channels.post("thread", "one", { replyTo: "asked" });
    channels.failures.push(refused(10008));
    const { remove } = channels;
    channels.remove = async (...args) => {
      channels.posted.length = 0;
      await remove.apply(channels, args);
    };
    expect(await back("asked")).toBe(true);
  });

  it("is struck where it can't be removed, and that is told", async () => {
    channels.post("thread", "one", { replyTo: "asked" });
    channels.post("thread", "two");
    channels.failures.push(refused(50013));
    expect(await back("asked")).toBe(false);
    expect(channels.text("thread")).toEqual(["one", takenBackWording].slice(1));
  });

  it("stays where nothing can be read or changed, and that is told too", async () => {
    channels.post("thread", "one", { replyTo: "asked" });
    channels.readFailures.push(refused(50001));
    expect(await back("asked")).toBe(false);
    channels.failures.push(refused(50083), refused(50083));
    expect(await back("asked")).toBe(false);
    expect(channels.text("thread")).toEqual(["one"]);
  });
});
