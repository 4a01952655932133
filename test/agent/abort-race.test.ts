import { describe, expect, it } from "vitest";
import { abortReason, raceAbort } from "../../src/agent/abort-race.ts";
import { ThreadkeeperError } from "../../src/errors.ts";
import { forever } from "../support/scripted-model.ts";

describe("a race against an abort", () => {
  it("ends as the work does, if that comes first", async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
    await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  });

  it("ends with the reason, if the abort comes first, also for work that never ends or fails later", async () => {
    const stop = new AbortController();
    let fail = (_error: Error) => {};
    const failing = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    const races = [raceAbort(forever, stop.signal), raceAbort(failing, stop.signal)];
    const reason = new ThreadkeeperError("RUN_LOST", "gone");
    stop.abort(reason);
    for (const race of races) await expect(race).rejects.toBe(reason);
    fail(new Error("too late to matter"));
    await expect(raceAbort(forever, stop.signal)).rejects.toBe(reason);
  });

  it("a reason that is not ours is a stop, and is kept as the cause", () => {
    expect(abortReason(AbortSignal.abort("because"))).toMatchObject({ code: "RUN_STOPPED", cause: "because" });
  });
});
