import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Control,
  emptied,
  forked,
  isKnown,
  newControl,
  nobody,
  openUnder,
  rewound,
  versionOf,
  type WaitingInput,
  withEnded,
  withoutRun,
  withoutWords,
  withRun,
  withSaved,
  withWaiting,
} from "../../src/session/control.ts";
import { formatRecord, parseControl } from "../../src/session/session-record.ts";

const input = (id: string): WaitingInput => ({ id, content: `text of ${id}`, at: "2026-01-01T00:00:00.000Z" });
const names = (id: string) => ({ id: `run-${id}`, turn: `turn-${id}`, owner: `owner-${id}` });

type Move = { kind: "wait" | "run" | "unrun" | "save" | "end"; n: number };
const move = fc.record({ kind: fc.constantFrom<Move["kind"]>("wait", "run", "unrun", "save", "end"), n: fc.nat(200) });

function apply(control: Control, { kind, n }: Move): Control {
  switch (kind) {
    case "wait":
      return isKnown(control, `input-${n}`) ? control : withWaiting(control, input(`input-${n}`));
    case "run":
      return withRun(control, names(`${n}`));
    case "unrun":
      return withoutRun(control);
    case "save":
      return withSaved(control, n % 4, { n });
    case "end":
      return withEnded(control, {});
  }
}

describe("The control record", () => {
  it("keeps its laws through any moves, and never changes in place", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let control = newControl("rev");
        for (const each of moves) {
          const before = JSON.stringify(control);
          const next = apply(control, each);
          expect(JSON.stringify(control)).toBe(before);
          // Events only grow, and a save always shows in the version; an input that waits never does.
          expect(next.count).toBeGreaterThanOrEqual(control.count);
          if (next.count !== control.count || each.kind === "save")
            expect(versionOf(next)).not.toBe(versionOf(control));
          if (each.kind === "wait" || each.kind === "end" || each.kind === "unrun")
            expect(versionOf(next)).toBe(versionOf(control));
          // What waits or is being answered is known, and stands in one place only.
          const inHand = [...next.waiting, ...(next.run?.inputs ?? [])].map(({ id }) => id);
          expect(new Set(inHand).size).toBe(inHand.length);
          for (const id of inHand) expect(isKnown(next, id)).toBe(true);
          expect(openUnder(next)).toBe(next.run ? next.run.owner : next.waiting.length > 0 ? nobody : undefined);
          expect(parseControl("id", formatRecord(next))).toEqual(next);
          control = next;
        }
      }),
    );
  });

  it("gives a run all that waits, each as one more event", () => {
    const waiting = withWaiting(
      withWaiting(newControl("rev"), { ...input("a"), author: { id: "1", name: "Ada" }, replyTo: null }),
      input("b"),
    );
    const running = withRun(waiting, names("x"));
    expect(running.run).toEqual({
      id: "run-x",
      turn: "turn-x",
      owner: "owner-x",
      inputs: [{ id: "a", author: { id: "1", name: "Ada" }, replyTo: null }, { id: "b" }],
    });
    expect(running).toMatchObject({ waiting: [], count: 2, saves: 1 });
  });

  it("lets an abandoned turn go on as it is; what came after it waits on", () => {
    const abandoned = withRun(withWaiting(newControl("rev"), input("a")), names("dead"));
    const before = withWaiting(abandoned, input("b"));
    const next = withRun(before, names("new"));
    expect(next.run).toEqual({ id: "run-new", turn: "turn-dead", owner: "owner-new", inputs: [{ id: "a" }] });
    expect({ ...next, run: undefined }).toEqual({ ...before, run: undefined });
  });

  it("keeps how an abandoned turn ended that was complete", () => {
    const abandoned = withEnded(withRun(withWaiting(newControl("rev"), input("a")), names("dead")), { as: "it did" });
    const next = withRun(withWaiting(abandoned, input("b")), names("new"));
    expect(next.run).toMatchObject({
      id: "run-new",
      turn: "turn-dead",
      inputs: [{ id: "a" }],
      ended: { as: "it did" },
    });
    expect(next.waiting).toEqual([input("b")]);
  });

  it("knows an input that waits even if 64 others came after it", () => {
    let control = withWaiting(newControl("rev"), input("first"));
    for (let index = 0; index < 70; index++) control = withWaiting(control, input(`later-${index}`));
    expect(isKnown(control, "first")).toBe(true);
    expect(isKnown(withRun(control, names("x")), "first")).toBe(true);
    expect(isKnown(withoutRun(withRun(control, names("x"))), "first")).toBe(false);
  });

  it("keeps a summary as long as all that it tells of is there, and no longer", () => {
    const summary = { upTo: 5, text: "they talked" };
    const control: Control = { ...newControl("old"), count: 9, summary };
    expect(rewound(control, 5, "new")).toEqual({ ...control, revision: "new", count: 5 });
    expect(rewound(control, 4, "new")).toEqual({ ...newControl("new"), count: 4 });
    expect(forked(control, 5, "new", [])).toEqual({ ...newControl("new"), count: 5, summary });
    expect(forked(control, 4, "new", ["here"])).toEqual({ ...newControl("new"), count: 4, places: ["here"] });
    expect(withoutWords(control, new Set(["x"]), 5, "new")).toEqual({ ...control, revision: "new" });
    expect(withoutWords(control, new Set(["x"]), 4, "new")).not.toHaveProperty("summary");
    const places = { places: ["here"], active: { hour: 5, users: ["ada"] } };
    expect(emptied({ ...control, ...places }, "new")).toEqual({
      ...newControl("new"),
      places: ["here"],
      active: { hour: 5, users: [] },
    });
  });
});
