import type { Message } from "discord.js";
import { MessageType } from "discord.js";
import { describe, expect, it } from "vitest";
import { linksTo, undoneBy } from "../../src/discord/undone.ts";
import { noticeWording } from "../../src/reply/wording.ts";

const sentence = noticeWording({ type: "notice", reason: "undone", inputs: [], replyTo: null });
const thread = { guild: "9", channel: "100", above: "7" };

function message(content: string, extra: object = {}): Message {
  const bot = { id: "1" };
  const plain = { type: MessageType.ChatInputCommand, author: bot, client: { user: bot }, content };
  return { ...plain, ...extra } as unknown as Message;
}

describe("an answer to /undo", () => {
  it("links what was undone: in the thread, above it, or in a direct conversation", () => {
    expect(linksTo(["101"], thread)).toBe("-# https://discord.com/channels/9/100/101");
    expect(linksTo(["100"], thread)).toBe("-# https://discord.com/channels/9/7/100");
    expect(linksTo(["100"], { ...thread, above: null })).toBe("-# https://discord.com/channels/9/100/100");
    expect(linksTo(["5"], { guild: null, channel: "3", above: null })).toBe("-# https://discord.com/channels/@me/3/5");
  });

  it("stays a message, however much one turn answered", () => {
    const ids = Array.from({ length: 50 }, (_, index) => `${10n ** 18n + BigInt(index)}`);
    const place = { guild: ids[0] ?? "", channel: ids[0] ?? "", above: ids[0] ?? "" };
    expect(`${sentence}\n${linksTo(ids, place)}`.length).toBeLessThan(2_000);
  });

  it("is read again: what it names does not come back as context", () => {
    const links = linksTo(["101", "102"], thread);
    expect(undoneBy(message(`${sentence}\n${links}`))).toEqual(["101", "102"]);
    expect(undoneBy(message(links))).toEqual([]);
    expect(undoneBy(message(`${sentence}\n${links}`, { type: MessageType.Default }))).toEqual([]);
    expect(undoneBy(message(`${sentence}\n${links}`, { author: { id: "2" } }))).toEqual([]);
  });
});
