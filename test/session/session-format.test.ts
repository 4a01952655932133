import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/session/plain-json.ts";
import { format, upgradeControl } from "../../src/session/session-format.ts";
import { parseControl } from "../../src/session/session-record.ts";

const run = { id: "r", turn: "t", owner: "o", inputs: [{ id: "1" }] };
const control = { revision: "x", saves: 1, count: 1, state: {}, handled: { recent: ["1"] }, waiting: [] };

describe("A record of an older format", () => {
  it("1: of a run whose turn had ended it is not known how", () => {
    const stored = JSON.stringify({ format: 1, ...control, run: { ...run, ended: true } });
    expect(parseControl("s", stored)).toEqual({ ...control, run: { ...run, ended: {} } });
  });

  it("stays as it is where the newer ones are the same", () => {
    for (const stored of [control, { ...control, run }])
      expect(parseControl("s", JSON.stringify({ format: 1, ...stored }))).toEqual(stored);
  });

  it("is damaged after the upgrade if it was before", () => {
    for (const wrong of [{ ...run, ended: 1 }, true, [], "run"]) {
      const stored = JSON.stringify({ format: 1, ...control, run: wrong });
      expect(() => parseControl("s", stored)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
    }
  });
});

it("Whatever a record holds, an upgrade does not throw, and does nothing to one of today", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("run", "other"), fc.jsonValue()),
      fc.integer({ min: 1, max: format }),
      (record, from) => {
        const before = JSON.stringify(record);
        const upgraded = upgradeControl(record as JsonObject, from);
        expect(JSON.stringify(record)).toBe(before);
        expect(upgradeControl(upgraded, format)).toBe(upgraded);
      },
    ),
  );
});
