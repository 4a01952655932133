import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLogger } from "../../../src/log.ts";
import { prepareFile } from "../../../src/session/store/sqlite-file.ts";

const fileSystem = vi.hoisted(() => ({ type: 0xef53 }));

vi.mock("node:fs/promises", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:fs/promises")>()),
  statfs: async () => fileSystem,
}));

describe("The file of a SQLite store", () => {
  let directory: string;
  let lines: string[];
  const prepare = async (path = join(directory, "sessions.sqlite")): Promise<void> => {
    const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });
    (await prepareFile(path, `SQLite file ${path}`, { log, readOnly: false })).end();
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "threadkeeper-file-"));
    lines = [];
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("is made on a disk of this machine, and nothing is said", async () => {
    fileSystem.type = 0xef53;
    await prepare();
    expect((await stat(join(directory, "sessions.sqlite"))).size).toBe(0);
    expect(lines).toEqual([]);
  });

  for (const [name, type] of [
    ["NFS", 0x6969],
    ["CIFS", 0xff534d42],
    ["SMB", 0xfe534d42 | 0],
  ] as const) {
    it(`is refused on a network share (${name}), and not made`, async () => {
      fileSystem.type = type;
      await expect(prepare()).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining(`is on ${name}`),
      });
      await expect(stat(join(directory, "sessions.sqlite"))).rejects.toThrow("ENOENT");
    });
  }

  it("is warned of where it may be a share or not", async () => {
    fileSystem.type = 0x01021997;
    await prepare();
    expect(lines.join()).toContain("9p");
  });
});
