import type { Message, TextBasedChannel } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/conversation/memory.ts";
import type { HistoryReader } from "../../src/discord/history-reader.ts";
import { MissedMessages } from "../../src/discord/missed-messages.ts";
import { knownMemory } from "./support/known-memory.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";
import { logLines } from "./support/log-lines.ts";
import { refusal } from "./support/refusal.ts";

const id = (number: number) => String(600_000_000_000_000_000n + BigInt(number));
const number = (message: { readonly id: string }) => Number(BigInt(message.id) - 600_000_000_000_000_000n);
const place = { channel: id(0), sessionId: `discord:${id(0)}` };

/** Pages of a channel whose messages have these numbers, and how often it was asked for one. */
function channelOf(numbers: readonly number[], size = 100) {
  const newest = [...numbers].sort((one, other) => other - one);
  const asked: (number | undefined)[] = [];
  const reader = {
    open: async () => ({ id: id(0) }) as TextBasedChannel,
    page: async (_channel: TextBasedChannel, before?: string) => {
      const below = before === undefined ? undefined : number({ id: before });
      asked.push(below);
      const older = newest.filter((each) => below === undefined || each < below);
      return older.slice(0, size).map((each) => ({ id: id(each) }) as Message);
    },
  };
  return { asked, reader: reader as unknown as HistoryReader };
}

function missed(reader: HistoryReader, knows: Partial<Memory> = {}, isUnanswered = (_: Message) => true) {
  const { log, lines } = logLines();
  const memory = knownMemory(knows);
  return { memory, lines, messages: new MissedMessages({ memory, reader, isUnanswered, log }) };
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
    const { messages } = missed(reader, { heard }, (message) => number(message) !== 4);
    expect((await messages.inChannel(id(0), id(3))).map(number)).toEqual([3, 6]);
    expect(asked).toEqual([undefined]);
  });

  it("is read page by page, and of very much the newest", async () => {
    const some = channelOf(Array.from({ length: 250 }, (_, index) => index + 1));
    expect(await missed(some.reader).messages.inChannel(id(0), id(51))).toHaveLength(200);
    expect(some.asked).toEqual([undefined, 151, 51]);
    const much = channelOf(Array.from({ length: 2_000 }, (_, index) => index + 1));
    const found = await missed(much.reader).messages.inChannel(id(0), id(1));
    expect([found.length, number(found[0] as Message)]).toEqual([500, 1_501]);
  });

  it("is nothing where nothing can be read, and what goes wrong stays there", async () => {
    const shut = { open: async () => undefined } as unknown as HistoryReader;
    expect(await missed(shut).messages.inChannel(id(0), id(1))).toEqual([]);
    for (const [error, line] of [
      [refusal(50001, 403), "debug: what was said in a place could not be read"],
      [refusal(10003), "debug: what was said in a place could not be read"],
      [new Error("broken"), "warn: what was said in a place could not be read"],
    ] as const) {
      const { messages, memory, lines } = missed(failing(error));
      expect(await messages.inChannel(id(0), id(1))).toEqual([]);
      expect(lines).toEqual([line]);
      expect(memory.forget).not.toHaveBeenCalled();
    }
  });
});

describe("what was missed in a conversation", () => {
  it("is what its session does not know, also if it stood nearby, and not what is too old", async () => {
    const { reader } = channelOf([1, 2, 3, 4, 5, 6]);
    const heard = async () => ({ waiting: [id(5)], said: [id(2)], nearby: [id(4)] });
    const { messages, memory } = missed(reader, { heard }, (message) => number(message) !== 6);
    expect((await messages.inConversation(place, id(3))).map(number)).toEqual([3, 4]);
    expect(memory.erase).not.toHaveBeenCalled();
    expect([messages.erasedIn, messages.gone.size]).toEqual([0, 0]);
  });

  it("and what is gone from it is erased, words and what stood nearby", async () => {
    const { reader } = channelOf([1, 3, 5]);
    const heard = async () => ({ waiting: [id(6)], said: [id(5), id(2), id(0)], nearby: [id(4), id(-5)] });
    const { messages, memory } = missed(reader, { heard, erase: async () => 2 });
    await messages.inConversation(place, id(5));
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
    const { messages, memory } = missed({ open: reader.open, page } as unknown as HistoryReader, { heard });
    expect(await messages.inConversation(place, id(0))).toEqual([]);
    expect(memory.amend.mock.calls).toMatchObject([[{ id: reworded.id, text: "other words" }]]);
  });

  it("asks the session before the page is read: what comes in between is not taken for gone", async () => {
    const order: string[] = [];
    const { reader } = channelOf([1]);
    const { messages } = missed(
      {
        open: reader.open,
        page: (...args: Parameters<HistoryReader["page"]>) => {
          order.push("page");
          return reader.page(...args);
        },
      } as unknown as HistoryReader,
      {
        heard: async () => {
          order.push("session");
          return { waiting: [], said: [], nearby: [] };
        },
      },
    );
    await messages.inConversation(place, id(1));
    expect(order).toEqual(["session", "page"]);
  });

  it("goes with its place, and only with that", async () => {
    const gone = missed(failing(refusal(10003)));
    expect(await gone.messages.inConversation(place, id(1))).toEqual([]);
    expect(gone.memory.forget.mock.calls).toEqual([[place.sessionId]]);
    expect([...gone.messages.gone]).toEqual([place.channel]);
    const unseen = missed(failing(refusal(50001, 403)));
    await unseen.messages.inConversation(place, id(1));
    expect(unseen.memory.forget).not.toHaveBeenCalled();
    expect(unseen.messages.gone.size).toBe(0);
    const shut = missed({ open: async () => undefined } as unknown as HistoryReader);
    expect(await shut.messages.inConversation(place, id(1))).toEqual([]);
  });
});
