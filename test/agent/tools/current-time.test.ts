import { afterEach, describe, expect, it, vi } from "vitest";
import { callTool } from "../../../src/agent/tool-call.ts";
import { currentTime } from "../../../src/agent/tools/current-time.ts";

const context = { signal: new AbortController().signal, author: undefined, state: {}, setState: () => {} };

afterEach(() => {
  vi.useRealTimers();
});

describe("the current time", () => {
  it.each([
    [{}, "UTC", "Saturday", "10:03:00 UTC"],
    [{ zone: "America/New_York" }, "America/New_York", "Saturday", "05:03:00"],
    [{ zone: "Pacific/Auckland" }, "Pacific/Auckland", "Saturday", "23:03:00"],
  ])("in %j", async (input, zone, weekday, clock) => {
    vi.useFakeTimers({ now: new Date("2025-12-27T10:03:00Z"), toFake: ["Date"] });
    const output = await callTool(currentTime, input, context);
    expect(output).toMatchObject({
      type: "json",
      value: { zone, time: expect.stringContaining(clock), utc: "2025-12-27T10:03:00.000Z" },
    });
    expect(JSON.stringify(output)).toContain(weekday);
  });

  it("a wrong zone is a clear word to the model", async () => {
    expect(await callTool(currentTime, { zone: "Berlin" }, context)).toEqual({
      type: "error-text",
      value: '"Berlin" is not an IANA time zone; examples are Europe/Berlin and UTC',
    });
  });
});
