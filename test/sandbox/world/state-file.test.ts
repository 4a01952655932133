import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

async function closed(sandbox: Sandbox): Promise<Sandbox> {
  await sandbox.close();
  return sandbox;
}

describe("a sandbox's saved state", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sandbox-"));
    path = join(folder, "inner", "discord.json");
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("brings back threads, messages, members and commands, and ids go on growing", async () => {
    const first = await startSandbox({ state: path, guildName: "Home", ownerName: "Eve" });
    const asked = first.member("Ben").says("general", "plans?");
    first.owner.says(first.owner.opensThread(asked, "Plans"), "here");
    const body = [{ name: "reset", description: "forgets" }];
    await botRest(first).put(Routes.applicationCommands(first.bot.id), { body });
    const texts = [first.text("general"), first.text("Plans")];
    await first.close();

    const second = await startSandbox({ state: path });
    expect([second.text("general"), second.text("Plans")]).toEqual(texts);
    expect([second.guild.name, second.owner.name, second.bot.id]).toEqual(["Home", "Eve", first.bot.id]);
    expect(second.member("Ben").id).toBe(asked.authorId);
    const later = second.owner.says("Plans", "again");
    expect(BigInt(later.id)).toBeGreaterThan(BigInt(first.messages("Plans").at(-1)?.id ?? 0));
    expect(second.owner.runs("/reset", { in: "Plans" }).interaction.asked).toMatchObject({ name: "reset" });
    await second.close();
  });

  it("is the owner's alone and holds no token unless it is told to keep it", async () => {
    const first = await startSandbox({ state: path });
    await first.close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "inner"))).mode & 0o777).toBe(0o700);
    expect(await readFile(path, "utf8")).not.toContain(first.botToken);
    const second = await startSandbox({ state: path, keepToken: true });
    await second.close();
    const third = await startSandbox({ state: path, keepToken: true });
    expect(third.botToken).toBe(second.botToken);
    expect(third.key).not.toBe(second.key);
    await third.close();
    const fourth = await startSandbox({ state: path });
    expect(fourth.botToken).not.toBe(second.botToken);
    await fourth.close();
    expect(await readFile(path, "utf8")).not.toContain(second.botToken);
  });

  it("holds what a bot was told is done", async () => {
    const sandbox = await startSandbox({ state: path });
    const rest = botRest(sandbox);
    const route = Routes.channelMessages(sandbox.general.id);
    const { id } = (await rest.post(route, { body: { content: "half" } })) as { id: string };
    expect(await readFile(path, "utf8")).toContain('"half"');
    await rest.patch(Routes.channelMessage(sandbox.general.id, id), { body: { content: "the whole answer" } });
    expect(await readFile(path, "utf8")).toContain('"the whole answer"');
    await sandbox.close();
  });

  it("is saved while the sandbox goes on", async () => {
    const sandbox = await startSandbox({ state: path });
    sandbox.owner.says("general", "remember this");
    // The file comes by itself; nothing in the sandbox happens that could be waited for.
    for (let text = ""; !text.includes("remember this"); ) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      text = await readFile(path, "utf8").catch(() => "");
    }
    await sandbox.close();
  });

  it("is an error, and stays as it is, when it can't be read", async () => {
    const broken = join(folder, "broken.json");
    await writeFile(broken, "{ half");
    await expect(startSandbox({ state: broken })).rejects.toThrow("is not JSON");
    await writeFile(broken, '{"format":2}');
    await expect(startSandbox({ state: broken })).rejects.toThrow("this version");
    expect(await readFile(broken, "utf8")).toBe('{"format":2}');
    const { state } = await closed(await startSandbox());
    for (const other of [
      null,
      [],
      7,
      { format: 1 },
      { ...state, users: null },
      { ...state, users: {} },
      { ...state, guilds: [] },
      { ...state, channels: { x: null } },
      { ...state, messages: { x: {} } },
      { ...state, lastId: "x" },
      { ...state, botToken: 7 },
      { ...state, commands: {} },
      { ...state, commandCreations: undefined },
      { ...state, nonces: undefined },
    ]) {
      await writeFile(broken, JSON.stringify(other));
      await expect(startSandbox({ state: broken })).rejects.toThrow("this version: move it away");
    }
    await expect(startSandbox({ state: folder })).rejects.toThrow();
  });

  it("can be handed on as a value, of which the first sandbox knows nothing", async () => {
    const first = await startSandbox();
    first.owner.says("general", "before");
    const second = await startSandbox({ state: first.state });
    second.owner.says("general", "after");
    expect(first.text("general")).toBe("Ada: before");
    expect(second.text("general")).toBe("Ada: before\nAda: after");
    await Promise.all([first.close(), second.close()]);
  });

  it("says at the end if it could not be saved", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const sandbox = await startSandbox({ state: join(folder, "later", "state.json") });
    await writeFile(join(folder, "later"), "");
    sandbox.owner.says("general", "x");
    await expect(sandbox.close()).rejects.toThrow();
  });
});
