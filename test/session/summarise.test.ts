import { beforeEach, describe, expect, it } from "vitest";
import type { Session } from "../../src/session/session.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { Run, SessionManager, Taken } from "../../src/session/session-manager.ts";
import { controlKey, summaryKey } from "../../src/session/session-record.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";

const runOf = (taken: Taken): Run => {
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  return taken.run;
};
const seqs = (session: Session | undefined) => session?.events.map(({ seq }) => seq);
let made = 0;
const event = (turn: string, role: "user" | "assistant"): SessionEvent => ({
  id: `e${made++}`,
  at: "now",
  turn,
  message: { role, content: turn },
});

describe("A summary", () => {
  const map = new Map<string, string>();
  let sessions: SessionManager;
  let other: SessionManager;
  /** Three turns of two events. */
  let session: Session;

  beforeEach(async () => {
    map.clear();
    sessions = await openSessions({ store: openMemoryStore(map) });
    other = await openSessions({ store: openMemoryStore(map) });
    const empty = await sessions.create({ sessionId: "s" });
    const turns = ["t1", "t2", "t3"].flatMap((turn) => [event(turn, "user"), event(turn, "assistant")]);
    session = await sessions.save({ ...empty, events: turns });
  });

  it("stands for the events before it: they are no longer loaded, but are there", async () => {
    const summary = { upTo: 4, text: "They spoke of this and that." };
    expect(await sessions.summarise(session, summary)).toBe(true);
    for (const manager of [sessions, other]) {
      const read = await manager.get("s");
      expect(read).toMatchObject({ summary, earlier: 4, version: session.version });
      expect(seqs(read)).toEqual([4, 5]);
      expect(seqs(await manager.get("s", { maxBytes: 1 }))).toEqual([4, 5]);
    }
    const run = runOf(await other.take("s", { id: "1", content: "x" }));
    expect(run.session).toMatchObject({ summary, earlier: 4 });
    expect(seqs(run.session)).toEqual([4, 5, 6]);
  });

  it("stands apart, so that no turn writes it anew, and goes with its session", async () => {
    const store = openMemoryStore(map);
    const kept = async () => (await store.get([controlKey("s"), summaryKey("s")])).map((each) => each?.value);
    await sessions.summarise(session, { upTo: 4, text: "Of this and that." });
    const run = runOf(await sessions.take("s", { id: "1", content: "x" }));
    expect(await kept()).toEqual([expect.not.stringContaining("this and that"), "Of this and that."]);
    await sessions.finish(run);
    expect((await other.get("s"))?.summary?.text).toBe("Of this and that.");
    await other.reset("s");
    expect(await kept()).toEqual([expect.any(String), undefined]);
    const empty = (await sessions.get("s")) as Session;
    const again = await sessions.save({ ...empty, events: [event("t1", "user")] });
    await sessions.summarise(again, { upTo: 0, text: "Again." });
    await other.delete("s");
    expect(await kept()).toEqual([undefined, undefined]);
  });

  it("that is missing is an error that names the session; delete is the way out", async () => {
    await sessions.summarise(session, { upTo: 4, text: "Of this and that." });
    map.delete(`keyv:${summaryKey("s")}`);
    await expect(other.get("s")).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("summary of session s"),
      fields: { sessionId: "s" },
    });
    expect(await other.delete("s")).toBe(true);
    expect(await other.get("s")).toBeUndefined();
  });

  it("is another one for every process, also where nothing else of the session has changed", async () => {
    await sessions.summarise(session, { upTo: 4, text: "one" });
    const first = (await other.get("s")) as Session;
    expect(await other.summarise(first, { upTo: 4, text: "two" })).toBe(true);
    expect((await sessions.get("s"))?.summary?.text).toBe("two");
    expect(await sessions.summarise(first, { upTo: 4, text: "old" })).toBe(false);
  });

  it("needs no words, and may have them later; it moves only forward", async () => {
    expect(session).not.toHaveProperty("summary");
    expect(await sessions.summarise(session, { upTo: 2 })).toBe(true);
    const left = (await sessions.get("s")) as Session;
    expect(left.summary).toEqual({ upTo: 2 });
    expect(await sessions.summarise(left, { upTo: 2, text: "words" })).toBe(true);
    const told = (await sessions.get("s")) as Session;
    expect(told.summary).toEqual({ upTo: 2, text: "words" });
    // Somebody who read the events that are left out now.
    const copy = { ...session, summary: told.summary as object as typeof told.summary & object };
    await expect(sessions.summarise(copy, { upTo: 0, text: "back" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect((await other.get("s"))?.summary).toEqual({ upTo: 2, text: "words" });
  });

  it("disturbs no run, and no save from outside", async () => {
    const run = runOf(await sessions.take("s", { id: "1", content: "x" }));
    expect(await other.summarise(session, { upTo: 4, text: "short" })).toBe(true);
    const grown = [...run.session.events, event(run.turn, "assistant")];
    const saved = await sessions.save({ ...run.session, events: grown }, { run, ended: {} });
    expect(saved.summary).toEqual({ upTo: 4, text: "short" });
    expect(await sessions.finish(run)).toBeUndefined();
    const read = (await sessions.get("s")) as Session;
    expect(seqs(read)).toEqual([4, 5, 6, 7]);
    expect(await other.summarise(read, { upTo: 6, text: "shorter" })).toBe(true);
    const kept = await sessions.save({ ...read, state: { n: 1 } });
    expect(kept.summary).toEqual({ upTo: 6, text: "shorter" });
  });

  it("is of the session as it was read: where that was summarised or forgotten since, nothing is changed", async () => {
    expect(await other.summarise(session, { upTo: 2, text: "first" })).toBe(true);
    expect(await sessions.summarise(session, { upTo: 4, text: "second" })).toBe(false);
    const read = (await sessions.get("s")) as Session;
    expect(read.summary).toEqual({ upTo: 2, text: "first" });
    await other.reset("s");
    expect(await sessions.summarise(read, { upTo: 4, text: "late" })).toBe(false);
    expect(await sessions.get("s")).not.toHaveProperty("summary");
    await other.delete("s");
    expect(await sessions.summarise(read, { upTo: 4, text: "late" })).toBe(false);
    expect(await sessions.get("s")).toBeUndefined();
  });

  it.each([
    ["not where a turn begins", { upTo: 3 }],
    ["not one of the loaded events", { upTo: 6 }],
    ["no number", { upTo: "2" as never }],
    ["missing", {} as never],
    ["with a text that is none", { upTo: 2, text: 5 as never }],
    ["with a text that is too long", { upTo: 2, text: "ü".repeat(8_193) }],
  ])("is refused if its end is %s", async (_, summary) => {
    const unsaved = { ...session, events: [...session.events, event("t4", "user")] };
    await expect(sessions.summarise(unsaved, summary)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(await other.get("s")).toEqual(session);
  });

  it("has at most 16,384 bytes", async () => {
    expect(await sessions.summarise(session, { upTo: 2, text: "ü".repeat(8_192) })).toBe(true);
  });
});
