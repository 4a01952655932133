import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../src/config.ts";
import { silentLogger } from "../src/log.ts";
import { startBot } from "../src/main.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/sandbox.ts";
import { openStore } from "../src/session/store/open-store.ts";
import { openSessions } from "../src/session/store-session-manager.ts";

let sandbox: Sandbox;
let folder: string;
let file: string;

beforeEach(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-main-"));
  file = path.join(folder, "sessions.sqlite");
});
afterEach(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

function start(settings: Record<string, string> = {}, token = sandbox.botToken) {
  const config = readConfig(settings, {});
  return startBot({ config, discord: { token, api: sandbox.api }, store: `sqlite:${file}`, log: silentLogger });
}

async function keys(prefix: string): Promise<string[]> {
  const store = await openStore(`sqlite:${file}`);
  const found = await store.keys(prefix);
  await store.close();
  return found;
}

describe("startBot", () => {
  it("answers a mention in a thread, and leaves nothing unfinished when it stops", async () => {
    const bot = await start();
    expect(bot.guilds).toHaveLength(1);
    const mention = sandbox.owner.mentions(sandbox.bot, "Tea is at four.");
    const thread = await sandbox.until(() => sandbox.threads().find(({ id }) => id === mention.id));
    await sandbox.until(() => sandbox.text(thread).includes("Noted."));
    await bot.stop();
    expect(await keys("control/")).toEqual([`control/discord:${mention.id}`]);
    expect(await keys("open/")).toEqual([]);
    expect(await keys("owner/")).toEqual([]);
  });

  it("says once in a thread that has grown long that it knows the older part from a summary", {
    timeout: 60_000,
  }, async () => {
    const settings = { WINDOW_TOKENS: "1000" };
    const told = "From now on I know its older part from a summary.";
    let bot = await start(settings);
    const mention = sandbox.owner.mentions(sandbox.bot, "Tea is at four.");
    const thread = await sandbox.until(() => sandbox.threads().find(({ id }) => id === mention.id));
    await bot.idle();
    const answers = () => sandbox.messages(thread).filter(({ authorId }) => authorId === sandbox.bot.id).length;
    const grow = async (from: number, to: number) => {
      for (let place = from; place < to; place += 1) {
        const before = answers();
        sandbox.owner.says(thread, `Remark ${place}: ${"blablablablablablabla ".repeat(60)}`);
        await sandbox.until(() => answers() > before, { timeoutMs: 15_000 });
        await bot.idle();
      }
    };
    await grow(0, 5);
    expect(sandbox.text(thread).split(told)).toHaveLength(2);
    await bot.stop();
    bot = await start(settings);
    await grow(5, 8);
    await bot.stop();
    expect(sandbox.text(thread).split(told)).toHaveLength(2);
    expect(sandbox.text(thread)).not.toContain("Reference:");
  });

  it("opens nothing when the model's setting is wrong", async () => {
    await expect(start({ MODEL: "parrot" })).rejects.toMatchObject({ code: "MODEL_SETTING_INVALID" });
    await expect(access(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("takes up what a process that is gone has left waiting", async () => {
    const sessionId = `discord:${sandbox.general.id}`;
    const store = await openStore(`sqlite:${file}`);
    const sessions = await openSessions({ store, ownerId: "gone" });
    const { id } = sandbox.owner.says("general", "Tea is at four.");
    const replyTo = { channel: sandbox.general.id, message: id };
    await sessions.take(sessionId, { id, content: "Tea is at four.", replyTo }, { create: true });
    await sessions.close();
    await store.close();
    const bot = await start();
    await sandbox.until(() => sandbox.text("general").includes("Noted."));
    await bot.stop();
    expect(await keys("open/")).toEqual([]);
  });

  it("says goodbye to the store when Discord does not let it in", async () => {
    await expect(start({}, "wrong")).rejects.toMatchObject({ code: "DISCORD_TOKEN_REFUSED" });
    expect(await keys("owner/")).toEqual([]);
  });
});
