import { type Message, MessageType, type TextBasedChannel } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/conversation/memory.ts";
import type { HistoryReader } from "../../src/discord/history-reader.ts";
import { MissedMessages } from "../../src/discord/missed-messages.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { knownMemory } from "./support/known-memory.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

const id = (number: number) => String(600_000_000_000_000_000n + BigInt(number));
const number = (message: { readonly id: string }) => Number(BigInt(message.id) - 600_000_000_000_000_000n);
const here = id(0);
const own = `discord:${here}`;

interface Plan {
  readonly knows?: Partial<Memory>;
  /** A call, by default: its thread would have its id. */
  readonly asks?: (message: Message) => string | undefined;
  readonly since?: number;
  readonly oldest?: number;
}

/** Pages of a channel whose messages have these numbers, and how often it was asked for one; ours reply to another. */
function channelOf(numbers: readonly number[], ours: Readonly<Record<number, number>> = {}) {
  const newest = [...numbers].sort((one, other) => other - one);
  const asked: (number | undefined)[] = [];
  const reader = {
    open: async () => ({ id: id(0) }) as TextBasedChannel,
    page: async (_channel: TextBasedChannel, before?: string) => {
      const below = before === undefined ? undefined : number({ id: before });
      asked.push(below);
      const older = newest.filter((each) => below === undefined || each < below);
      return older.slice(0, 100).map((each) => said(each, ours[each]));
    },
  };
  return { asked, reader: reader as unknown as HistoryReader };
}

function said(each: number, repliesTo: number | undefined): Message {
  const reply = repliesTo !== undefined && { type: MessageType.Reply, reference: { messageId: id(repliesTo) } };
  const author = { id: repliesTo === undefined ? "ada" : "me" };
  return { id: id(each), client: { user: { id: "me" } }, author, type: MessageType.Default, ...reply } as Message;
}

const asksHere = () => own;

function missed(reader: HistoryReader, { knows, asks, since = 1, oldest = 1 }: Plan = {}) {
  const { log, lines } = logLines();
  const memory = knownMemory(knows);
  const sessionAsked = asks ?? ((message) => `discord:${message.id}`);
  const plan = { memory, reader, sessionAsked, since: id(since), oldest: id(oldest), log };
  return { memory, lines, messages: new MissedMessages(plan) };
}

const failing = (error: Error) =>
  ({
    async open() {
      throw error;
    },
  }) as unknown as HistoryReader;

describe("what was missed in a channel", () => {
  it("are the calls since then that no session knows, oldest first", async () => {
    const { reader, asked } = channelOf([1, 2, 3, 4, 5, 6]);
    const heard: Memory["heard"] = async (sessionId) => ({
      waiting: [],
      said: sessionId === `discord:${id(5)}` ? [id(5)] : [],
      nearby: [id(6)],
    });
    const asks = (message: Message) => (number(message) === 4 ? undefined : `discord:${message.id}`);
    const { messages } = missed(reader, { knows: { heard }, asks, since: 3 });
    expect((await messages.in(here, false)).map(number)).toEqual([3, 6]);
    expect(asked).toEqual([undefined]);
  });

  it("is not what the bot has replied to: who was told that it failed was heard", async () => {
    const { reader } = channelOf([1, 2, 3, 4], { 3: 1 });
    const { messages } = missed(reader, { asks: (message) => (number(message) === 3 ? undefined : own) });
    expect((await messages.in(here, false)).map(number)).toEqual([2, 4]);
  });

  it("is read page by page, and of very much the newest", async () => {
    const some = channelOf(Array.from({ length: 250 }, (_, index) => index + 1));
    expect(await missed(some.reader, { since: 51 }).messages.in(here, false)).toHaveLength(200);
    expect(some.asked).toEqual([undefined, 151, 51]);
    const much = channelOf(Array.from({ length: 2_000 }, (_, index) => index + 1));
    const found = await missed(much.reader).messages.in(here, false);
    expect([found.length, number(found[0] as Message)]).toEqual([500, 1_501]);
  });

  it("is nothing where nothing can be read, and what goes wrong stays there; some may be read another time", async () => {
    const shut = { open: async () => undefined } as unknown as HistoryReader;
    expect(await missed(shut).messages.in(here, false)).toEqual([]);
    for (const [error, line, unread] of [
      [refusal(50001, 403), "debug: what was said in a place could not be read", []],
      [refusal(10003), "debug: what was said in a place could not be read", []],
      [new Error("broken"), "warn: what was said in a place could not be read", [here]],
    ] as const) {
      const { messages, memory, lines } = missed(failing(error));
      expect(await messages.in(here, false)).toEqual([]);
      expect(lines).toEqual([line]);
      expect([...messages.unread]).toEqual(unread);
      expect(memory.forget).not.toHaveBeenCalled();
    }
  });
});

describe("what was missed in a known conversation", () => {
  it("is what its session does not know, also if it stood nearby, and not what is too old", async () => {
    const { reader } = channelOf([1, 2, 3, 4, 5, 6]);
    const heard = async () => ({ waiting: [id(5)], said: [id(2)], nearby: [id(4)] });
    const asks = (message: Message) => (number(message) === 6 ? undefined : own);
    const { messages, memory } = missed(reader, { knows: { heard }, asks, since: 7, oldest: 3 });
    expect((await messages.in(here, true)).map(number)).toEqual([3, 4]);
    expect(memory.erase).not.toHaveBeenCalled();
    expect([messages.erasedIn, messages.gone.size]).toEqual([0, 0]);
  });

  it("that is a channel, too, are of its calls those since then: one whose thread was deleted is not called out again", async () => {
    const { reader } = channelOf([1, 2, 3, 4]);
    const asks = (message: Message) => (number(message) === 1 ? own : `discord:${message.id}`);
    const { messages } = missed(reader, { asks, since: 3, oldest: 1 });
    expect((await messages.in(here, true)).map(number)).toEqual([1, 3, 4]);
  });

  it("is read further than its last page where very much was said since", async () => {
    const { reader, asked } = channelOf(Array.from({ length: 250 }, (_, index) => index + 1));
    const asks = (message: Message) => (number(message) % 60 === 0 ? own : undefined);
    const { messages } = missed(reader, { asks, since: 100 });
    expect((await messages.in(here, true)).map(number)).toEqual([60, 120, 180, 240]);
    expect(asked).toEqual([undefined, 151]);
  });

  it("and what is gone from its last page is erased, words and what stood nearby", async () => {
    const { reader } = channelOf([1, 3, 5]);
    const heard = async () => ({ waiting: [id(6)], said: [id(5), id(2), id(0)], nearby: [id(4), id(-5)] });
    const { messages, memory } = missed(reader, { knows: { heard, erase: async () => 2 }, asks: asksHere });
    await messages.in(here, true);
    expect(memory.erase.mock.calls).toEqual([[[id(6), id(2), id(4)]]]);
    expect(messages.erasedIn).toBe(2);
  });

  it("and what waits for its turn and was edited meanwhile is reworded, and nothing else", async () => {
    const client = knownClient();
    const edited = { edited_timestamp: "2026-11-30T01:00:00.000Z" };
    const [begun, untouched, reworded] = [
      delivered(client, ids.general, "old words", edited),
      delivered(client, ids.general, "as it was"),
      delivered(client, ids.general, "other words", edited),
    ];
    const page = async () => [reworded, untouched, begun];
    const { reader } = channelOf([]);
    const heard = async () => ({ waiting: [reworded.id, untouched.id], said: [begun.id], nearby: [] });
    const { messages, memory } = missed({ open: reader.open, page } as unknown as HistoryReader, {
      knows: { heard },
      asks: asksHere,
    });
    expect(await messages.in(here, true)).toEqual([]);
    expect(memory.amend.mock.calls).toMatchObject([[{ id: reworded.id, text: "other words" }]]);
  });

  it("asks the session before the page is read: what comes in between is not taken for gone", async () => {
    const order: string[] = [];
    const { reader } = channelOf([1]);
    const watched = {
      open: reader.open,
      page: (...args: Parameters<HistoryReader["page"]>) => {
        order.push("page");
        return reader.page(...args);
      },
    };
    const heard = async () => {
      order.push("session");
      return { waiting: [], said: [], nearby: [] };
    };
    const { messages } = missed(watched as unknown as HistoryReader, { knows: { heard }, asks: asksHere });
    await messages.in(here, true);
    expect(order).toEqual(["session", "page"]);
  });

  it("goes with its place, and only with that", async () => {
    const gone = missed(failing(refusal(10003)));
    expect(await gone.messages.in(here, true)).toEqual([]);
    expect(gone.memory.forget.mock.calls).toEqual([[own]]);
    expect([...gone.messages.gone]).toEqual([here]);
    const unseen = missed(failing(refusal(50001, 403)));
    await unseen.messages.in(here, true);
    expect(unseen.memory.forget).not.toHaveBeenCalled();
    expect(unseen.messages.gone.size).toBe(0);
    const shut = missed({ open: async () => undefined } as unknown as HistoryReader);
    expect(await shut.messages.in(here, true)).toEqual([]);
  });

  it("whose session is damaged is not looked into again", async () => {
    const heard = async () => {
      throw new ThreadkeeperError("STORE_CORRUPT", "damaged");
    };
    const { messages, lines } = missed(channelOf([1]).reader, { knows: { heard } });
    expect(await messages.in(here, true)).toEqual([]);
    expect([...messages.unread]).toEqual([]);
    expect(lines).toEqual(["warn: what was said in a place could not be read"]);
  });

  it("of which the place is gone and the store does not forget it, is looked into again", async () => {
    const forget = async () => {
      throw new Error("the store is down");
    };
    const { messages, lines } = missed(failing(refusal(10003)), { knows: { forget } });
    expect(await messages.in(here, true)).toEqual([]);
    expect([...messages.unread]).toEqual([here]);
    expect(lines).toEqual(["warn: what was said in a place could not be read"]);
  });
});
