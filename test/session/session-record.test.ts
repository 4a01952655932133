import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newControl, withRun, withWaiting } from "../../src/session/control.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import {
  controlKey,
  eventKey,
  eventPrefix,
  eventRows,
  formatRecord,
  openKey,
  parseControl,
  parseEvent,
  parseOpenKey,
} from "../../src/session/session-record.ts";

const event: SessionEvent = {
  id: "1",
  seq: 7,
  at: "2026-01-01T00:00:00.000Z",
  turn: "t",
  author: { id: "5", name: "Ada" },
  context: [{ id: "0", author: { id: "6", name: "Bob" }, text: "hi" }],
  message: { role: "user", content: "hello" },
};
const control = withRun(withWaiting(newControl("rev", { a: 1 }), { id: "1", content: "x", at: "now" }), {
  id: "r",
  turn: "t",
  owner: "o",
});
const formatEvent = (each: SessionEvent): string => eventRows("s", each).values().next().value as string;
const sessionId = fc.string({ unit: fc.constantFrom(..."aA0:.-_~"), minLength: 1, maxLength: 100 });

describe("Keys", () => {
  it("of two sessions never meet, and each session's are in the order of its events", () => {
    fc.assert(
      fc.property(sessionId, sessionId, fc.nat(10 ** 9), fc.nat(10 ** 9), (a, b, m, n) => {
        expect(eventKey(a, m) < eventKey(a, n)).toBe(m < n);
        expect(eventKey(a, m).startsWith(eventPrefix(b))).toBe(a === b);
        expect(controlKey(a) === controlKey(b)).toBe(a === b);
        expect(parseOpenKey(openKey("owner", a))).toEqual({ owner: "owner", sessionId: a });
      }),
    );
  });
});

describe("Records", () => {
  it("come back as they were, with whatever a newer program of the same format added", () => {
    expect(parseControl("s", formatRecord(control))).toEqual(control);
    expect(parseControl("s", formatRecord({ ...control, later: [1] }))).toHaveProperty("later", [1]);
    expect(parseEvent("s", 7, formatEvent(event))).toEqual({ event, large: [] });
  });

  it("give events that nobody can change", () => {
    const parsed = parseEvent("s", 7, formatEvent(event)).event;
    expect(() => Object.assign(parsed.message, { content: "changed" })).toThrow(TypeError);
    expect(() => (parsed.context as unknown[]).push("more")).toThrow(TypeError);
    expect(() => Object.assign(parsed.context?.[0]?.author ?? {}, { name: "Eve" })).toThrow(TypeError);
  });

  it("of a newer format are refused by name", () => {
    const newer = { code: "STORE_FORMAT_NEWER", fields: { sessionId: "s", format: 99 } };
    expect(() => parseControl("s", '{"format":99}')).toThrow(expect.objectContaining(newer));
    expect(() => parseEvent("s", 7, '{"format":99}')).toThrow(expect.objectContaining(newer));
  });

  const damaged = (parse: () => unknown) =>
    expect(parse).toThrow(expect.objectContaining({ code: "STORE_CORRUPT", fields: { sessionId: "s" } }));

  it("that are cut, empty or of another shape are damaged, and the error names the session", () => {
    for (const text of [
      "",
      "{",
      "null",
      "[]",
      "5",
      '"x"',
      "{}",
      '{"format":"1"}',
      '{"format":-1}',
      '{"format":1.5}',
      '{"format":1}',
    ]) {
      damaged(() => parseControl("s", text));
      damaged(() => parseEvent("s", 7, text));
    }
    damaged(() => parseEvent("s", 7, undefined));
    damaged(() => parseEvent("s", 8, formatEvent(event)));
  });

  it("with any one field missing or of another kind are damaged", () => {
    const { run, waiting, handled } = {
      ...control,
      waiting: [{ id: "1", content: [{ type: "text", text: "x" }], at: "now" }],
    };
    const whole = { ...control, waiting, handled: { ...handled, mark: "5" } };
    expect(parseControl("s", formatRecord(whole))).toEqual(whole);
    const wrong: object[] = [
      ...["revision", "saves", "count", "state", "handled", "waiting"].map((key) => ({ ...whole, [key]: undefined })),
      { ...whole, revision: "" },
      { ...whole, saves: -1 },
      { ...whole, count: 0.5 },
      { ...whole, state: [] },
      { ...whole, handled: { recent: [1] } },
      { ...whole, handled: { recent: [], mark: 5 } },
      { ...whole, waiting: {} },
      { ...whole, waiting: ["x"] },
      { ...whole, waiting: [{ id: "1", content: 5, at: "now" }] },
      { ...whole, waiting: [{ id: "1", content: ["text"], at: "now" }] },
      { ...whole, waiting: [{ id: "1", content: "x" }] },
      { ...whole, waiting: [{ id: "1", content: "x", at: "now", author: { id: "5" } }] },
      { ...whole, run: null },
      ...["id", "turn", "owner", "inputs"].map((key) => ({ ...whole, run: { ...run, [key]: undefined } })),
      { ...whole, run: { ...run, inputs: [{}] } },
      { ...whole, run: { ...run, inputs: ["1"] } },
      { ...whole, run: { ...run, ended: "yes" } },
    ];
    for (const record of wrong) damaged(() => parseControl("s", formatRecord(record)));
    for (const key of ["id", "at", "turn", "message", "seq"]) {
      damaged(() => parseEvent("s", 7, formatEvent({ ...event, [key]: undefined })));
    }
    for (const part of [{ message: { role: "judge", content: "" } }, { author: { id: "5" } }, { context: [{}] }]) {
      damaged(() => parseEvent("s", 7, formatEvent({ ...event, ...part } as never)));
    }
  });
});
