import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSettings } from "../../src/cli/settings.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-settings-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("readSettings", () => {
  it("does without a .env", () => {
    expect(readSettings(folder, {}).discord).toBeUndefined();
  });

  it("reads .env, with several lines in quotes, and changes no variable of the process", async () => {
    await writeFile(
      path.join(folder, ".env"),
      'MODEL=demo\nINSTRUCTIONS="Be brief.\nBe kind."\nDISCORD_TOKEN=from-the-file\n',
    );
    const config = readSettings(folder, {});
    expect(config.instructions).toBe("Be brief.\nBe kind.");
    expect(config.discord?.token).toBe("from-the-file");
    expect(process.env["INSTRUCTIONS"]).toBeUndefined();
  });

  it("says so when .env is there and cannot be read", async () => {
    await mkdir(path.join(folder, ".env"));
    expect(() => readSettings(folder, {})).toThrow(/\.env is there but cannot be read/);
  });
});
