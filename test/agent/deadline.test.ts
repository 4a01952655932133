import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startDeadline } from "../../src/agent/deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a deadline", () => {
  it("aborts when the time is over, and says how long that was", () => {
    const { signal } = startDeadline(1_500);
    vi.advanceTimersByTime(1_499);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ code: "RUN_DEADLINE", message: "it took longer than 1.5 s" });
  });

  it("does nothing once it is cleared, and leaves no timer", () => {
    const deadline = startDeadline(1_500);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2_000);
    expect(deadline.signal.aborted).toBe(false);
  });
});
