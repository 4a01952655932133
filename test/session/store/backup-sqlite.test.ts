import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { backupSqlite } from "../../../src/session/store/backup-sqlite.ts";
import { openStore } from "../../../src/session/store/open-store.ts";
import { openSessions } from "../../../src/session/store-session-manager.ts";
import { countSessions } from "../../../src/session/store-walk.ts";

let folder: string;
const at = (name: string) => path.join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-backup-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A file with two sessions, used by a bot until `end`. */
async function inUse(options: { key?: Uint8Array } = {}) {
  const store = await openStore(`sqlite:${at("bot.sqlite")}`, options);
  const sessions = await openSessions({ store });
  for (const id of ["a", "b"]) await sessions.take(id, { id: `${id}1`, content: "secret words" }, { create: true });
  const end = async () => {
    await sessions.close();
    await store.close();
  };
  return { sessions, end };
}

async function read(name: string, options: { key?: Uint8Array } = {}) {
  const store = await openStore(`sqlite:${at(name)}`, options);
  try {
    const sessions = await openSessions({ store });
    const words = (await sessions.get("a"))?.events.map(({ message }) => message.content);
    const count = await countSessions(store);
    await sessions.close();
    return { words, count };
  } finally {
    await store.close();
  }
}

describe("a backup of a SQLite file", () => {
  it("is a whole copy beside a running bot, for its owner only", async () => {
    const { sessions, end } = await inUse();
    await backupSqlite(at("bot.sqlite"), at("copy.sqlite"));
    await sessions.create({ sessionId: "later" });
    expect((await stat(at("copy.sqlite"))).mode & 0o777).toBe(0o600);
    expect(await read("copy.sqlite")).toEqual({ words: ["secret words"], count: 2 });
    await end();
    expect((await read("bot.sqlite")).count).toBe(3);
  });

  it("stays encrypted", async () => {
    const key = Buffer.alloc(32, 7);
    const { end } = await inUse({ key });
    await backupSqlite(at("bot.sqlite"), at("copy.sqlite"));
    await end();
    expect((await readFile(at("copy.sqlite"))).includes("secret words")).toBe(false);
    await expect(read("copy.sqlite")).rejects.toMatchObject({ code: expect.stringMatching(/^STORE_KEY/) });
    expect(await read("copy.sqlite", { key })).toEqual({ words: ["secret words"], count: 2 });
  });

  it("takes the place of nothing, and of a damaged file leaves no part", async () => {
    const { end } = await inUse();
    await end();
    await writeFile(at("there.sqlite"), "mine");
    const refused = { code: "INPUT_INVALID", message: expect.stringContaining("is there already") };
    await expect(backupSqlite(at("bot.sqlite"), at("there.sqlite"))).rejects.toMatchObject(refused);
    expect(await readFile(at("there.sqlite"), "utf8")).toBe("mine");
    await expect(backupSqlite(at("bot.sqlite"), at("none/copy.sqlite"))).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("cannot be written"),
    });
    const { size } = await stat(at("bot.sqlite"));
    await truncate(at("bot.sqlite"), Math.floor(size / 2));
    await expect(backupSqlite(at("bot.sqlite"), at("copy.sqlite"))).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await readdir(folder)).not.toContain("copy.sqlite");
  });

  it("of what is not there makes nothing", async () => {
    await expect(backupSqlite(at("none.sqlite"), at("copy.sqlite"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(await readdir(folder)).toEqual([]);
  });
});
