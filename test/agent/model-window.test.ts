import type { ModelMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelWindow } from "../../src/agent/model-window.ts";
import { noUsage } from "../../src/agent/usage.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";

const at = "2025-12-27T10:03:00.000Z";
let made = 0;
function event(turn: string, message: ModelMessage): SessionEvent {
  made += 1;
  return { id: `e${made}`, at, turn, message };
}

/** Turns of about 1,100 bytes as shown. */
function turns(count: number): SessionEvent[] {
  return Array.from({ length: count }, (_, place) => [
    event(`t${place}`, { role: "user", content: `question ${place} ${"x".repeat(400)}` }),
    event(`t${place}`, { role: "assistant", content: `answer ${place} ${"y".repeat(400)}` }),
  ]).flat();
}

const plan = { windowTokens: 1_000, fixedBytes: 0 };
const bytesOf = (messages: readonly ModelMessage[]) => Buffer.byteLength(JSON.stringify(messages));
const open = (windowTokens = 1_000) => new ModelWindow({ ...plan, windowTokens }, { earlier: 0 });

describe("the window", () => {
  it("shows everything until it is told that this is too much, whatever the budget", () => {
    const all = turns(50);
    const window = open();
    expect(window.show(all)).toHaveLength(100);
    expect(window.isPastBudget).toBe(true);
    expect(window.show(all)).toEqual(open().show(all));
  });

  it("begins with the summary of what was said before, or with the word that it is missing", () => {
    const older = { earlier: 6, summary: { upTo: 6, text: "They like tea." } };
    const [first, second] = new ModelWindow(plan, older).show(turns(1));
    expect(first).toEqual({ role: "user", content: "<summary>\nThey like tea.\n</summary>" });
    expect(JSON.stringify(second)).toContain("question 0");
    expect(new ModelWindow(plan, { earlier: 2 }).show(turns(1))).toHaveLength(3);
  });

  it("is measured in the provider's own tokens: what it reported of what was shown, instructions and all", () => {
    const window = new ModelWindow({ windowTokens: 1_000, fixedBytes: 3_000 }, { earlier: 0 });
    expect(window.budgetBytes).toBe(4_000);
    const bytes = bytesOf(window.show(turns(3)));
    window.measured({ ...noUsage, inputTokens: (bytes + 3_000) / 2 });
    expect(window.budgetBytes).toBe(2_000);
    expect(window.isPastBudget).toBe(true);
    window.measured({ ...noUsage, inputTokens: (bytes + 3_000) / 6 });
    expect(window.budgetBytes).toBe(6_000);
    expect(window.isPastBudget).toBe(false);
  });

  it("believes no provider that reports nothing, or hardly anything: it may have left out the rest", () => {
    const window = open();
    window.show(turns(3));
    window.measured(noUsage);
    expect(window.budgetBytes).toBe(4_000);
    window.measured({ ...noUsage, inputTokens: 1 });
    expect(window.budgetBytes).toBe(8_000);
    window.measured({ ...noUsage, inputTokens: 1_000_000 });
    expect(window.budgetBytes).toBe(1_000);
  });

  it("does not take the bytes of a file for words", () => {
    const image = event("t", { role: "user", content: [{ type: "image", image: "a".repeat(1_000_000) }] });
    const window = open(2_000);
    expect(JSON.stringify(window.show([image]))).toContain("a".repeat(1_000_000));
    expect(window.isPastBudget).toBe(false);
  });

  it("cuts a text that is larger than a good part of the budget, always", () => {
    const long = event("t", { role: "user", content: "x".repeat(10_000) });
    expect(JSON.stringify(open(1_000).show([long]))).toContain("[cut: 8000 more characters]");
    expect(JSON.stringify(open(5_000).show([long]))).toContain("[cut: 5000 more characters]");
    expect(JSON.stringify(open(32_000).show([long]))).not.toContain("[cut:");
  });
});

describe("what is too old", () => {
  const lengths = fc.array(fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 3 }), {
    maxLength: 12,
  });

  it("is nothing where all fits; else it ends at a user's turn, and the rest fills half of the budget or is one turn", () => {
    fc.assert(
      fc.property(lengths, (turnLengths) => {
        const all = turnLengths.flatMap((parts, turn) =>
          parts.map((length, place) =>
            event(`t${turn}`, { role: place === 0 ? "user" : "assistant", content: "x".repeat(length) }),
          ),
        );
        const window = open();
        const old = window.tooOld(all);
        const kept = all.slice(old.length);
        expect([...old, ...kept]).toEqual(all);
        const fits = (events: readonly SessionEvent[], most: number) =>
          bytesOf(window.show(events)) <= most || new Set(events.map(({ turn }) => turn)).size === 1;
        expect(fits(kept, old.length === 0 ? 4_000 : 2_000)).toBe(true);
        if (old.length > 0) {
          expect(kept[0]?.message.role).toBe("user");
          expect(kept[0]?.turn).not.toBe(old.at(-1)?.turn);
        }
      }),
    );
  });

  it("can wait a little where the model fails, but not for long", () => {
    const window = open();
    expect(window.isFarPast(turns(5))).toBe(false);
    expect(window.tooOld(turns(5))).not.toEqual([]);
    expect(window.isFarPast(turns(8))).toBe(true);
    const refused = open(32_000);
    refused.show(turns(2));
    refused.shrink(turns(2));
    expect(refused.isFarPast(turns(2))).toBe(true);
  });
});

describe("a window that is too much for the model", () => {
  it("first has cut what is large, and loses no turn by that", () => {
    const large = event("big", { role: "user", content: "x".repeat(30_000) });
    const all = [...turns(2), large, ...turns(2)];
    const window = open(32_000);
    const before = window.show(all);
    expect(window.shrink(all)).toBe(true);
    const after = window.show(all);
    expect(after).toHaveLength(before.length);
    expect(bytesOf(after)).toBeLessThan(bytesOf(before) / 2);
  });

  it("then loses its older half, again and again, down to the newest turn", () => {
    const all = turns(16);
    const window = open(32_000);
    const shown = [window.show(all).length];
    while (window.shrink(all)) shown.push(window.show(all).length);
    for (const [place, count] of shown.slice(1).entries()) expect(count).toBeLessThanOrEqual((shown[place] ?? 0) / 2);
    expect(shown.at(-1)).toBe(2);
    expect(JSON.stringify(window.show(all))).toContain("question 15");
  });

  it("is past its budget, which is now half of what was refused", () => {
    const all = turns(16);
    const window = open(32_000);
    const refused = bytesOf(window.show(all));
    expect(window.isPastBudget).toBe(false);
    window.shrink(all);
    window.show(all);
    window.measured({ ...noUsage, inputTokens: 2_000 });
    expect(window.isPastBudget).toBe(true);
    expect(window.budgetBytes).toBe(Math.floor(refused / 2));
  });
});
