import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settled } from "../../src/cli/settled.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";

let sandbox: Sandbox;
let done: boolean;

beforeEach(async () => {
  sandbox = await startSandbox();
  vi.useFakeTimers();
  done = false;
});
afterEach(async () => {
  vi.useRealTimers();
  await sandbox.close();
});

function wait(options = {}): void {
  void settled(sandbox, { quietMs: 1_000, ...options }).then(() => {
    done = true;
  });
}

describe("settled", () => {
  it("waits for a quiet while after the last thing that happened", async () => {
    wait();
    await vi.advanceTimersByTimeAsync(900);
    sandbox.owner.says("general", "still here");
    await vi.advanceTimersByTimeAsync(900);
    expect(done).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(done).toBe(true);
  });

  it("goes on waiting while somebody types", async () => {
    sandbox.owner.types("general");
    wait();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(done).toBe(false);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(done).toBe(true);
  });

  it("does not wait for ever", async () => {
    wait({ atMostMs: 2_500 });
    for (let i = 0; i < 3; i++) {
      sandbox.owner.says("general", "and another thing");
      await vi.advanceTimersByTimeAsync(900);
    }
    expect(done).toBe(true);
  });
});
