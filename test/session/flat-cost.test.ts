import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/agent/tool.ts";
import { type Control, newControl } from "../../src/session/control.ts";
import { nothingHandled, withHandled } from "../../src/session/handled.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { controlKey, eventRows, formatControl, summaryKey } from "../../src/session/session-record.ts";
import { keyvText } from "../../src/session/store/keyv-text.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { type ScriptedStep, scriptedModel } from "../support/scripted-model.ts";

const words = "The quick brown fox jumps over the lazy dog. ".repeat(9).slice(0, 400);
const id = (number: number) => String(1_200_000_000_000_000_000n + BigInt(number));
const ada = { id: "170000000000000001", name: "Ada" };
const place = { message: "1200000000000000000", channel: "1200000000000000001" };

/** A session of so many events, as it is after long use: all but the newest are summarised, in so many characters. */
function long(events: number, summary: number): Map<string, string> {
  let handled = nothingHandled;
  const rows = new Map<string, string>();
  for (let seq = 0; seq < events; seq++) {
    const role = seq % 2 === 0 ? ("user" as const) : ("assistant" as const);
    const event: SessionEvent = {
      ...{ id: id(seq), seq, at: "2026-01-01T00:00:00.000Z", turn: `turn${seq - (seq % 2)}` },
      ...(role === "user" && { author: ada }),
      message: { role, content: words },
    };
    for (const [key, value] of eventRows("s", event)) rows.set(key, value);
    if (role === "user" && seq > events - 300) handled = withHandled(handled, event.id);
  }
  const control: Control = {
    ...{ ...newControl("revision", {}, handled), saves: events, count: events },
    ...(events > 100 && { summary: { upTo: events - 50, text: "s".repeat(summary) } }),
  };
  rows.set(controlKey("s"), formatControl(control)).set(summaryKey("s"), "s".repeat(summary));
  return new Map(Array.from(rows, ([key, value]) => [`keyv:${key}`, keyvText.serialize({ value })]));
}

/** An agent on such a session, and what a turn of its costs. */
async function room(session: Map<string, string>, steps: readonly ScriptedStep[]) {
  const store = new FaultyStore(openMemoryStore(new Map(session)));
  const roll = defineTool({ name: "roll", description: "Rolls a die.", input: z.object({}), run: () => "six" });
  const sessions = await openSessions({ store, takeOverMs: 600_000 });
  const agent = new Agent({ model: scriptedModel(steps), sessions, tools: [roll], maxRetries: 0 });
  let said = 1_000_000;
  return async () => {
    store.commits = [];
    store.reads = [];
    await agent.run(words, { sessionId: "s", eventId: id(said++), author: ada, replyTo: place });
    const put = store.commits.flatMap((commit) => [...commit.put]);
    const removed = store.commits.flatMap(({ remove = [] }) => remove);
    const bytes = [...put.flat(), ...removed].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return { commits: store.commits.length, bytes, keysRead: store.reads.flat().length };
  };
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

describe("What a turn costs", () => {
  const longest = long(100_000, 4_000);

  it("is the same at 100 events and at 100,000: three commits, under 50 KB, and nothing is read", async () => {
    const bytesAt: number[] = [];
    for (const session of [long(100, 0), longest]) {
      const turn = await room(
        session,
        Array.from({ length: 11 }, () => [words]),
      );
      await turn();
      const turns = [];
      for (let n = 0; n < 10; n++) turns.push(await turn());
      expect(turns.map(({ commits }) => commits)).toEqual(turns.map(() => 3));
      expect(Math.max(...turns.map(({ bytes }) => bytes))).toBeLessThan(50_000);
      expect(turns.map(({ keysRead }) => keysRead)).toEqual(turns.map(() => 0));
      bytesAt.push(mean(turns.map(({ bytes }) => bytes)));
    }
    const [short = 0, far = 0] = bytesAt;
    expect(far / short).toBeLessThan(1.3);
  });

  it("is for a process that knows nothing of the session the same at 1,000 events and at 100,000", async () => {
    const short = await (await room(long(1_000, 4_000), [[words]]))();
    const far = await (await room(longest, [[words]]))();
    expect(far.commits).toBe(3);
    expect(far.keysRead).toBe(short.keysRead);
    expect(far.bytes / short.bytes).toBeLessThan(1.3);
  });

  it("is two commits more for each step with tools", async () => {
    const call: ScriptedStep = [words, { tool: "roll", input: {} }];
    const turn = await room(long(100, 0), [[words], call, call, call, [words]]);
    await turn();
    const { commits, bytes } = await turn();
    expect(commits).toBe(3 + 3 * 2);
    expect(bytes).toBeLessThan(50_000);
  });
});
