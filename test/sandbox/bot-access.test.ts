import { Client } from "discord.js";
import { describe, expect, it } from "vitest";
import { BotAccess, newBotToken } from "../../src/sandbox/bot-access.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";

describe("the bot's token", () => {
  it("begins with its id, so that discord.js takes nothing off it", async () => {
    const id = "1000000000000000001";
    const tokens = Array.from({ length: 1000 }, () => newBotToken(id));
    expect(new Set(tokens).size).toBe(1000);
    for (const token of tokens) {
      expect(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).toBe(id);
      expect(token).not.toMatch(/^(?:bot|bearer)/i);
    }
    const sandbox = await startSandbox();
    expect(Buffer.from(sandbox.botToken.split(".")[0] ?? "", "base64url").toString()).toBe(sandbox.bot.id);
    const client = new Client({ intents: [], rest: { api: sandbox.api } });
    try {
      expect(await client.login(sandbox.botToken)).toBe(sandbox.botToken);
    } finally {
      await client.destroy();
      await sandbox.close();
    }
  });

  it("alone is let in", () => {
    const access = new BotAccess("one", []);
    expect(["one", "two", "on", undefined].map((token) => access.accepts(token))).toEqual([true, false, false, false]);
  });
});
