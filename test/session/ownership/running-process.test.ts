import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { isRunning } from "../../../src/session/ownership/running-process.ts";

describe("isRunning", () => {
  it("knows a process that is there from one that has ended", () => {
    expect(isRunning(process.ppid)).toBe(true);
    expect(isRunning(spawnSync("true").pid)).toBe(false);
  });
});
