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
    const hold = gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    hold.open("b");
    expect(passed).toEqual([]);
    hold.only(["a", "c"]);
    expect(passed).toEqual(["2"]);
    come("b", "3");
    come("a", "4");
    come("c", "5");
    expect(passed).toEqual(["2", "3"]);
    hold.open("a");
    expect(passed).toEqual(["2", "3", "1", "4"]);
    hold.only(["a", "c"]);
    come("a", "6");
    hold.release();
    expect(passed).toEqual(["2", "3", "1", "4", "6", "5"]);
  });

  it("waits no longer than that, and then in its order", () => {
    const hold = gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    come("a", "3");
    vi.advanceTimersByTime(999);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(passed).toEqual(["1", "2", "3"]);
    hold.only(["a"]);
    come("a", "4");
    expect(passed).toEqual(["1", "2", "3", "4"]);
  });

  it("waits for all who hold it: one connection's catching up opens nothing of another's", () => {
    const one = gate.hold(1_000);
    one.only(["a", "b"]);
    const other = gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    come("c", "3");
    one.open("a");
    one.release();
    expect(passed).toEqual([]);
    other.only(["b"]);
    expect(passed).toEqual(["1", "3"]);
    other.release();
    expect(passed).toEqual(["1", "3", "2"]);
  });

  it("does not pass when it was deleted meanwhile, which is known until all is heard, though nothing is held any more", () => {
    gate.withdraw(["0"]);
    const hold = gate.hold(1_000);
    come("a", "0");
    come("a", "1");
    come("a", "2");
    gate.withdraw(["1", "3"]);
    vi.advanceTimersByTime(1_000);
    expect(passed).toEqual(["0", "2"]);
    gate.withdraw(["4"]);
    gate.reword("6");
    expect([hold.isReworded("6"), hold.isReworded("4")]).toEqual([true, false]);
    expect(["0", "1", "2", "3", "4"].filter((id) => hold.isWithdrawn("a", id))).toEqual(["1", "3", "4"]);
    come("a", "3");
    come("b", "7");
    expect(passed).toEqual(["0", "2", "7"]);
    hold.release();
    gate.withdraw(["5"]);
    expect(gate.hold(1_000).isWithdrawn("a", "5")).toBe(false);
  });

  it("does not pass either when its channel was deleted", () => {
    const hold = gate.hold(1_000);
    come("a", "1");
    come("b", "2");
    gate.withdraw(["a"]);
    come("a", "3");
    expect([hold.isWithdrawn("a", "4"), hold.isWithdrawn("b", "5")]).toEqual([true, false]);
    hold.release();
    expect(passed).toEqual(["2"]);
  });
});
