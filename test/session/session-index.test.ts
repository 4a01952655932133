import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Control, newControl, type WaitingInput, withWaiting } from "../../src/session/control.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import {
  hourOf,
  indexed,
  parseHour,
  parseSaidKey,
  placePrefix,
  saidKey,
  saidPrefix,
  speakerPrefix,
  startOfHour,
  userKeyOf,
  userPrefix,
} from "../../src/session/session-index.ts";

const ada = { id: "ada", name: "Ada" };
const bob = { id: "bob", name: "Bob" };
const event = (seq: number, more: Partial<SessionEvent> = {}): SessionEvent => ({
  id: `e${seq}`,
  seq,
  at: "now",
  turn: "t",
  message: { role: "user", content: "words" },
  ...more,
});
const waiting = (id: string, more: Partial<WaitingInput> = {}): WaitingInput => ({
  id,
  content: "w",
  at: "now",
  ...more,
});
const empty = newControl("r");
/** What `change` puts, short: the hour, or "" for a row without one. */
const rows = (put: ReadonlyMap<string, string>): Record<string, number | ""> =>
  Object.fromEntries(Array.from(put, ([key, text]) => [key, parseHour(key, text) || ""]));

describe("The index of a session", () => {
  it("tells of words that wait, then of the event that they become", () => {
    const input = waiting("1", { author: ada, context: [{ id: "0", author: bob, text: "before" }] });
    const waits = indexed("s", empty, withWaiting(empty, input), [], 5);
    expect(rows(waits.put)).toEqual({
      "said/1/s/-": "",
      "said/0/s/-": "",
      "user/ada/s": 5,
      "speaker/s/ada": "",
      "user/bob/s": 5,
      "speaker/s/bob": "",
    });
    const { at: _at, content: _content, ...spoken } = input;
    const begun = indexed("s", waits.control, { ...waits.control, waiting: [], count: 1 }, [event(0, spoken)], 6);
    expect(rows(begun.put)).toEqual({ "said/1/s/0": "", "said/0/s/0": "" });
    expect(begun.remove).toEqual(["said/1/s/-", "said/0/s/-"]);
    expect(begun.control.active).toEqual({ hour: 5, users: ["ada", "bob"] });
  });

  it("writes the rows of places and people once an hour, not with every turn", () => {
    const placed = withWaiting(empty, waiting("1", { author: ada, places: ["here", "server"] }));
    const first = indexed("s", undefined, placed, [], 5);
    expect(rows(first.put)).toMatchObject({ "place/here/s": 5, "place/server/s": 5, "user/ada/s": 5 });
    const second = indexed("s", first.control, { ...first.control, count: 1 }, [event(0, { author: ada })], 5);
    expect(rows(second.put)).toEqual({ "said/e0/s/0": "" });
    const other = indexed("s", second.control, { ...second.control, count: 2 }, [event(1, { author: bob })], 5);
    expect(rows(other.put)).toEqual({ "said/e1/s/1": "", "user/bob/s": 5, "speaker/s/bob": "" });
    const later = indexed("s", other.control, { ...other.control, count: 3 }, [event(2, { author: ada })], 6);
    expect(rows(later.put)).toMatchObject({ "place/here/s": 6, "place/server/s": 6, "user/ada/s": 6 });
    expect(later.control.active).toEqual({ hour: 6, users: ["ada"] });
  });

  it("writes nothing for what is not said: an answer, a change of state, a copy of what was erased", () => {
    const before: Control = { ...empty, count: 2, places: ["here"], active: { hour: 5, users: ["ada"] } };
    expect(indexed("s", before, { ...before, saves: 1 }, [], 9)).toEqual({
      control: { ...before, saves: 1 },
      put: new Map(),
      remove: [],
    });
    const gone = event(2, { erased: true, message: { role: "user", content: "" } });
    expect(rows(indexed("s", before, { ...before, count: 3 }, [gone], 5).put)).toEqual({});
    const answer = event(2, { message: { role: "assistant", content: "answer" } });
    expect(rows(indexed("s", before, { ...before, count: 3 }, [answer], 5).put)).toEqual({});
  });

  it("follows a session to another place, and is rid of it when that is gone", () => {
    const before: Control = { ...empty, places: ["a", "b"], active: { hour: 5, users: [] } };
    const moved = indexed("s", before, { ...before, places: ["b", "c"] }, [], 9);
    expect([rows(moved.put), moved.remove]).toEqual([{ "place/c/s": 5 }, ["place/a/s"]]);
    const waits = withWaiting(before, waiting("1"));
    expect(indexed("s", waits, null, [], 9)).toEqual({
      control: null,
      put: new Map(),
      remove: ["said/1/s/-", "place/a/s", "place/b/s"],
    });
  });

  it("names at most 16 of an hour's people, and has the rows of all", () => {
    const context = Array.from({ length: 40 }, (_, index) => ({
      id: `c${index}`,
      author: { id: `u${index}`, name: "" },
      text: "",
    }));
    const many = indexed("s", empty, withWaiting(empty, waiting("1", { context })), [], 5);
    expect([...many.put.keys()].filter((key) => key.startsWith("user/"))).toHaveLength(40);
    expect(many.control.active?.users).toEqual(context.slice(-16).map(({ author }) => author.id));
  });

  it("has keys that every store takes, of whatever strings, different ones for different strings, and reads them", () => {
    const any = fc.oneof(
      fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 300 }),
      fc.string({ minLength: 1 }),
      fc.constantFrom("~", `~${"a".repeat(64)}`, "a/b", "ä".repeat(40)),
    );
    const session = fc.stringMatching(/^[A-Za-z0-9:._~-]{1,100}$/);
    fc.assert(
      fc.property(any, any, session, fc.nat(9_999_999_999), (one, other, sessionId, seq) => {
        const made = (id: string) => [
          saidKey(id, sessionId, seq),
          `${placePrefix(id)}${sessionId}`,
          `${userPrefix(id)}${sessionId}`,
        ];
        for (const key of made(one)) expect(key).toMatch(/^[\x21-\x7e]{1,240}$/);
        if (one !== other) expect(made(one).some((key) => made(other).includes(key))).toBe(false);
        expect(parseSaidKey(saidKey(one, sessionId, seq))).toEqual({ sessionId, seq });
        expect(parseSaidKey(saidKey(one, sessionId, "-"))).toEqual({ sessionId, seq: undefined });
        expect(saidKey(one, sessionId, seq).startsWith(saidPrefix(one))).toBe(true);
        const author = { id: one, name: "" };
        const { put } = indexed(sessionId, empty, withWaiting(empty, waiting("1", { author })), [], 1);
        const speaker = [...put.keys()].find((key) => key.startsWith(speakerPrefix(sessionId))) as string;
        expect([...put.keys()]).toContain(userKeyOf(speaker));
      }),
    );
  });

  it("counts hours since the epoch", () => {
    expect([hourOf(3_599_999), hourOf(3_600_000)]).toEqual([0, 1]);
    expect(startOfHour(hourOf(Date.parse("2026-05-01T10:59:59Z"))).toISOString()).toBe("2026-05-01T10:00:00.000Z");
  });
});
