import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";

describe("waiting", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
  });
  afterEach(() => sandbox.close());

  it("gives at once what is there already", async () => {
    sandbox.owner.says("general", "x");
    expect(await sandbox.until(() => sandbox.messages("general")[0]?.content)).toBe("x");
  });

  it("looks again whenever something happens", async () => {
    const looks = vi.fn(() => sandbox.messages("general").length === 2);
    const waited = sandbox.until(looks);
    sandbox.owner.says("general", "one");
    sandbox.owner.says("general", "two");
    expect(await waited).toBe(true);
    expect(looks).toHaveBeenCalledTimes(3);
    sandbox.owner.says("general", "three");
    expect(looks).toHaveBeenCalledTimes(3);
  });

  it("looks again when somebody is seen typing no more, though nothing happens", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    try {
      sandbox.owner.types("general");
      const quiet = sandbox.until(() => !sandbox.isAnybodyTyping, { timeoutMs: 20_000 });
      await vi.advanceTimersByTimeAsync(9_999);
      expect(sandbox.isAnybodyTyping).toBe(true);
      await vi.advanceTimersByTimeAsync(1);
      expect(await quiet).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it("passes on what the question throws, and gives up in time", async () => {
    await expect(sandbox.until(() => JSON.parse("{"))).rejects.toThrow(SyntaxError);
    await expect(sandbox.until(() => undefined, { timeoutMs: 1 })).rejects.toThrow("didn't come about");
  });

  it("takes the next message that fits, when it is sent or when an edit makes it fit", async () => {
    const old = sandbox.owner.says("general", "done already");
    const next = sandbox.nextMessage("general", ({ content }) => content.startsWith("done"));
    sandbox.owner.edits(old, "done again");
    sandbox.createChannel("other");
    sandbox.owner.says("other", "done elsewhere");
    const growing = sandbox.owner.says("general", "not yet");
    sandbox.owner.edits(growing, "done now");
    expect(await next).toMatchObject({ id: growing.id, content: "done now" });
  });

  it("shows the channel when no message came", async () => {
    sandbox.owner.says("general", "hello");
    await expect(sandbox.nextMessage("general", undefined, { timeoutMs: 1 })).rejects.toThrow("Ada: hello");
  });

  it("tells listeners of changes in their order, also of those that a listener makes", () => {
    const heard: string[] = [];
    sandbox.onChange((change) => {
      if (change.type === "message-created" && change.message.content === "one") sandbox.owner.says("general", "two");
    });
    const stop = sandbox.onChange((change) => {
      if (change.type === "message-created") heard.push(change.message.content);
    });
    sandbox.owner.says("general", "one");
    stop();
    sandbox.owner.says("general", "three");
    expect(heard).toEqual(["one", "two"]);
  });
});
