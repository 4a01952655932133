import { describe, expect, it, vi } from "vitest";
import { Streams } from "../../src/discord/streams.ts";
import { silentLogger } from "../../src/log.ts";

describe("what goes on", () => {
  it("can be waited for, and what it begins meanwhile too", async () => {
    const streams = new Streams(silentLogger);
    const done: string[] = [];
    const begin = async (name: string, then?: string) => {
      await Promise.resolve();
      done.push(name);
      if (then) streams.follow(begin(then));
    };
    streams.follow(begin("one", "two"));
    await streams.idle();
    expect(done).toEqual(["one", "two"]);
  });

  it("takes nothing along when it fails, and is told in the log", async () => {
    const error = vi.fn();
    const streams = new Streams({ ...silentLogger, error } as never);
    streams.follow(Promise.reject(new Error("no")), "it broke");
    await streams.idle();
    expect(error.mock.calls).toEqual([[{ err: new Error("no") }, "it broke"]]);
  });

  it("is waited for no longer than wanted", async () => {
    const streams = new Streams(silentLogger);
    await streams.settle(60_000);
    streams.follow(new Promise(() => {}));
    await streams.settle(1);
  });
});
