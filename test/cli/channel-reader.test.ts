import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ChannelReader } from "../../src/cli/channel-reader.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";

let sandbox: Sandbox;
let reader: ChannelReader;
let printed: string[];

beforeEach(async () => {
  sandbox = await startSandbox();
  vi.useFakeTimers();
  printed = [];
  reader = new ChannelReader(sandbox, sandbox.general.id, (text) => printed.push(text));
});
afterEach(async () => {
  reader.close();
  vi.useRealTimers();
  await sandbox.close();
});

describe("ChannelReader", () => {
  it("reads a message out once it has come to rest", () => {
    const message = sandbox.owner.says("general", "hel");
    vi.advanceTimersByTime(1_000);
    sandbox.owner.edits(message, "hello");
    vi.advanceTimersByTime(1_000);
    expect(printed).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(printed).toEqual(["Ada: hello"]);
  });

  it("reads of a message that grows only what is new, and one that changed again as a whole", () => {
    const message = sandbox.owner.says("general", "one");
    vi.advanceTimersByTime(1_500);
    sandbox.owner.edits(message, "one two");
    vi.advanceTimersByTime(1_500);
    sandbox.owner.edits(message, "three");
    vi.advanceTimersByTime(1_500);
    expect(printed).toEqual(["Ada: one", "  two", "Ada: three"]);
  });

  it("says again who speaks when somebody else spoke in between", () => {
    const message = sandbox.owner.says("general", "one");
    vi.advanceTimersByTime(1_500);
    sandbox.member("Ben").says("general", "well");
    vi.advanceTimersByTime(1_500);
    sandbox.owner.edits(message, "one two");
    vi.advanceTimersByTime(1_500);
    expect(printed).toEqual(["Ada: one", "Ben: well", "Ada: one two"]);
  });

  it("hears nothing of other channels, and reads the last messages of the one it turns to", () => {
    const other = sandbox.createChannel("other");
    for (const text of ["first", "second", "third"]) sandbox.owner.says(other, text);
    vi.advanceTimersByTime(1_500);
    expect(printed).toEqual([]);
    reader.turnTo(other.id, 2);
    expect(printed).toEqual(["Ada: second", "Ada: third"]);
  });

  it("reads out what is left when it is closed", () => {
    sandbox.owner.says("general", "goodbye");
    reader.close();
    expect(printed).toEqual(["Ada: goodbye"]);
  });
});
