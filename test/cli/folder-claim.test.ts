import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimFolder } from "../../src/cli/folder-claim.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), "threadkeeper-claim-")), "data/sandbox");
  file = path.join(folder, "in-use-by");
});
afterEach(() => rm(path.resolve(folder, "../.."), { recursive: true, force: true }));

describe("claimFolder", () => {
  it("makes the folder, and gives it up again", () => {
    const giveUp = claimFolder(folder);
    expect(existsSync(file)).toBe(true);
    giveUp();
    expect(existsSync(file)).toBe(false);
  });

  it("refuses a folder that a living process uses, and leaves its claim alone", () => {
    claimFolder(folder);
    writeFileSync(file, String(process.ppid));
    expect(() => claimFolder(folder)).toThrow(
      expect.objectContaining({ code: "STORE_BUSY", message: expect.stringContaining(`process ${process.ppid}`) }),
    );
    expect(existsSync(file)).toBe(true);
  });

  it("says so when the folder can't be made", () => {
    writeFileSync(path.resolve(folder, ".."), "a file");
    expect(() => claimFolder(folder)).toThrow(
      expect.objectContaining({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining("start in another folder"),
      }),
    );
  });

  it.each([
    ["a process that is gone", () => String(spawnSync("true").pid)],
    ["this process's own number, as after a restart of a container", () => String(process.pid)],
    ["nobody", () => ""],
  ])("takes over a claim of %s", (_who, claim) => {
    claimFolder(folder);
    writeFileSync(file, claim());
    expect(() => claimFolder(folder)).not.toThrow();
  });
});
