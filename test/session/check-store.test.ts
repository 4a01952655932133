import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { checkStore } from "../../src/session/check-store.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";

const author = { id: "5", name: "Ada" };

async function findings(map: ReadonlyMap<string, string>): Promise<string[]> {
  const found: string[] = [];
  for await (const { message } of checkStore(openMemoryStore(new Map(map)))) found.push(message);
  return found;
}

async function say(sessions: SessionManager, sessionId: string, id: string, content: string): Promise<void> {
  const input = { id, content, author, places: ["here"], context: [{ id: `${id}-near`, author, text: "near" }] };
  const taken = await sessions.take(sessionId, input, { create: true });
  if (taken.outcome === "run") await sessions.finish(taken.run, { start: false });
}

async function summarise(sessions: SessionManager, sessionId: string, text: string): Promise<void> {
  const session = await sessions.get(sessionId);
  const upTo = session?.events[0]?.seq;
  if (session && upTo !== undefined) await sessions.summarise(session, { upTo, text });
}

describe("Checking a store", () => {
  it("finds nothing after any sequence of what can be done with sessions", async () => {
    const ids = ["a", "b", "discord:1"];
    const session = fc.constantFrom(...ids);
    const step = fc.oneof(
      fc.record({ verb: fc.constant("say"), session, large: fc.boolean() }),
      fc.record({ verb: fc.constant("wait"), session, large: fc.boolean() }),
      fc.record({
        verb: fc.constantFrom("run", "summarise", "reset", "delete", "rewind", "fork", "erase", "create"),
        session,
        large: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const map = new Map<string, string>();
        const sessions = await openSessions({ store: openMemoryStore(map) });
        for (const [index, { verb, session: id, large }] of steps.entries()) {
          const words = large ? "x".repeat(20_000) : "words";
          if (verb === "say") await say(sessions, id, `m${index}`, words);
          else if (verb === "wait")
            await sessions.take(id, { id: `m${index}`, content: words, author }, { create: true, start: false });
          else if (verb === "run") await sessions.take(id, { id: `m${index}`, content: words }, { create: true });
          else if (verb === "summarise") await summarise(sessions, id, `summary ${index}`);
          else if (verb === "reset") await sessions.reset(id);
          else if (verb === "delete") await sessions.delete(id);
          else if (verb === "rewind") await sessions.rewind(id);
          else if (verb === "create") await sessions.create({ sessionId: id });
          else if (verb === "erase") await sessions.erase([`m${index - 1}`, `m${index - 2}-near`, `m${index - 3}`]);
          else await sessions.fork(id, { sessionId: `f${index}` }).catch(() => {});
        }
        expect(await findings(map)).toEqual([]);
        await sessions.close();
        const gone = (await findings(map)).filter((each) => !each.includes("process that is gone"));
        expect(gone).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  describe("finds", () => {
    let map: Map<string, string>;
    beforeEach(async () => {
      map = new Map();
      const sessions = await openSessions({ store: openMemoryStore(map) });
      await say(sessions, "a", "m1", "hello");
      await say(sessions, "a", "m2", "x".repeat(20_000));
      await summarise(sessions, "a", "they said hello");
      await say(sessions, "b", "m3", "hello");
      await sessions.take("b", { id: "m4", content: "waits" }, { start: false });
      await sessions.close();
      expect(await findings(map)).toEqual([]);
    });
    const text = (value: object) => JSON.stringify({ value: JSON.stringify(value) });
    const event = "keyv:event/a/0000000000";

    const damages: [string, (map: Map<string, string>) => unknown, RegExp[]][] = [
      ["an event that is missing", () => map.delete(event), [/^event 0 of session a is missing/]],
      ["an event that can't be read", () => map.set(event, "garbage"), [/^event 0 of session a is missing or cannot/]],
      [
        "an event of a newer format",
        () => map.set(event, text({ format: 99 })),
        [/event 0 .*newer program \(format 99/],
      ],
      [
        "another event in its place",
        () => map.set(event, map.get("keyv:event/a/0000000001") as string),
        [/event 0 .*another/],
      ],
      [
        "a large value that is missing",
        () => map.delete("keyv:large/a/0000000001.0"),
        [/^session a lacks large value 0 of event 1/],
      ],
      [
        "a large value that can't be read",
        () => map.set("keyv:large/a/0000000001.0", "x"),
        [/^session a lacks large value 0/],
      ],
      [
        "a large value that no event has",
        () => map.set("keyv:large/a/0000000001.7", text({})),
        [/^session a has a large value that no event/],
      ],
      [
        "what stands behind the end",
        () => map.set("keyv:event/a/0000000009", text({})),
        [/^session a has an event behind its end/],
      ],
      [
        "a control record that can't be read",
        () => map.set("keyv:control/a", "garbage"),
        [/control record of session a cannot be read/],
      ],
      ["a control record of a newer format", () => map.set("keyv:control/a", text({ format: 99 })), [/newer program/]],
      [
        "what is left of a session",
        () => map.delete("keyv:control/b"),
        Array(8).fill(/^session b does not exist, but/),
      ],
      ["a summary that is missing", () => map.delete("keyv:summary/a"), [/^the summary of session a is missing/]],
      ["another summary", () => map.set("keyv:summary/a", text({})), [/^the summary of session a .* another one/]],
      ["a summary too many", () => map.set("keyv:summary/b", text({})), [/^session b has a summary that it does not/]],
      ["a summary of nobody", () => map.set("keyv:summary/z", text({})), [/^session z does not exist, but a summary/]],
      [
        "a row that is missing in the index",
        () => map.delete("keyv:said/m1/a/0"),
        [/^session a lacks the row by which event 0 is found/],
      ],
      [
        "a row too many",
        () => map.set("keyv:said/m9/a/9", text({ format: 2 })),
        [/^session a is in the index with an event behind/],
      ],
      [
        "a row that can't be read",
        () => map.set("keyv:place/here/a", "garbage"),
        [/^keyv:?.*|place\/here\/a cannot be read/],
      ],
      [
        "a row of a session that is not there",
        () => map.set("keyv:user/5/z", text({ format: 2 })),
        [/^session z does not exist, but is in the index/],
      ],
      [
        "work that is not listed",
        () => map.delete("keyv:open/-/b"),
        [/^session b has work to do, and is not in the list/],
      ],
      [
        "a list of work for nothing",
        () => map.set("keyv:open/-/a", text({ format: 2 })),
        [/^session a is in the list of work for nothing/],
      ],
      [
        "work of a session that is not there",
        () => map.set("keyv:open/-/z", text({ format: 2 })),
        [/^session z does not exist, but is in the list of work/],
      ],
      ["a process whose record can't be read", () => map.set("keyv:owner/x", "garbage"), [/^owner\/x cannot be read/]],
      [
        "what is no session of a plain Keyv",
        () => map.set("keyv:naive", text([5])),
        [/^what stands under the key naive/],
      ],
    ];
    it.each(damages)("%s", async (_, damage, expected) => {
      damage(map);
      const before = new Map(map);
      const found = await findings(map);
      expect(found).toEqual(expected.map((each) => expect.stringMatching(each)));
      expect(map).toEqual(before);
    });

    it("a run of a process that is gone", async () => {
      const sessions = await openSessions({ store: openMemoryStore(map) });
      await sessions.take("a", { id: "m5", content: "hello" });
      expect(await findings(map)).toEqual([]);
      await sessions.close();
      expect(await findings(map)).toEqual([expect.stringMatching(/^session a has a run of a process that is gone/)]);
    });
  });
});
