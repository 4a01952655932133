import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LiveGate } from "../../src/discord/live-gate.ts";

let gate: LiveGate;
let passed: string[];

beforeEach(() => {
  vi.useFakeTimers();
  gate = new LiveGate();
  passed = [];
});
afterEach(() => {
  vi.useRealTimers();
});

function come(channel: string, message: string): void {
  gate.pass(channel, message, () => passed.push(message));
}

describe("what is said live", () => {
  it("passes at once when nothing is held", () => {
    come("a", "1");
    expect(passed).toEqual(["1"]);
  });

  it("waits until it is known in which channels something was missed, and in these until that was heard", () => {
    gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    expect(passed).toEqual([]);
    gate.holdOnly(["a", "c"]);
    expect(passed).toEqual(["2"]);
    come("b", "3");
    come("a", "4");
    come("c", "5");
    expect(passed).toEqual(["2", "3"]);
    gate.open("a");
    expect(passed).toEqual(["2", "3", "1", "4"]);
    come("a", "6");
    gate.openAll();
    expect(passed).toEqual(["2", "3", "1", "4", "6", "5"]);
  });

  it("waits no longer than that, and then in its order", () => {
    gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    come("a", "3");
    vi.advanceTimersByTime(999);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["1", "2", "3"]);
    gate.holdOnly(["a"]);
    come("a", "4");
    expect(passed).toEqual(["1", "2", "3", "4"]);
  });

  it("waits anew when another connection begins anew", () => {
    gate.hold(1_000);
    gate.holdOnly(["a"]);
    gate.hold(1_000);
    come("b", "1");
    gate.open("b");
    expect(passed).toEqual([]);
    gate.openAll();
    expect(passed).toEqual(["1"]);
  });

  it("does not pass when it was deleted meanwhile", () => {
    gate.withdraw(["0"]);
    gate.hold(1_000);
    come("a", "0");
    come("a", "1");
    come("a", "2");
    gate.withdraw(["1", "3"]);
    expect([gate.isWithdrawn("1"), gate.isWithdrawn("2"), gate.isWithdrawn("3")]).toEqual([true, false, true]);
    gate.openAll();
    expect(passed).toEqual(["0", "2"]);
    expect(gate.isWithdrawn("1")).toBe(false);
  });
});
