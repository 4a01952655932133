import { DiscordAPIError } from "discord.js";
import { describe, expect, it } from "vitest";
import { inviteLink } from "../../src/discord/client.ts";
import { connectionError } from "../../src/discord/connection.ts";

function refusal(status: number): DiscordAPIError {
  return new DiscordAPIError({ code: 0, message: "no" }, 0, status, "GET", "http://discord", { files: [], body: {} });
}

describe("why Discord lets the bot not in", () => {
  it("is told with the step to take", () => {
    expect(connectionError(4004)).toMatchObject({
      code: "DISCORD_TOKEN_REFUSED",
      message: expect.stringContaining("DISCORD_TOKEN"),
    });
    expect(connectionError(undefined, refusal(401))).toMatchObject({ code: "DISCORD_TOKEN_REFUSED" });
    expect(connectionError(4014)).toMatchObject({
      code: "DISCORD_INTENT_REFUSED",
      message: expect.stringContaining('switch on "Message Content Intent"'),
    });
    expect(connectionError(undefined, new Error("fetch failed"))).toMatchObject({
      code: "DISCORD_UNREACHABLE",
      message: expect.stringContaining("network"),
    });
    expect(connectionError(4013)).toMatchObject({ code: "DISCORD_FAILED", message: expect.stringContaining("4013") });
    expect(connectionError(undefined, refusal(403))).toMatchObject({ code: "DISCORD_FAILED" });
  });
});

describe("the invite link", () => {
  it("asks for exactly what the bot needs", () => {
    const link = new URL(inviteLink("123"));
    expect(link.origin + link.pathname).toBe("https://discord.com/oauth2/authorize");
    expect(Object.fromEntries(link.searchParams)).toEqual({
      client_id: "123",
      scope: "bot applications.commands",
      // View Channel, Send Messages, Read Message History, Create Public Threads, Send Messages in Threads
      permissions: (0x400n | 0x800n | 0x10000n | 0x800000000n | 0x4000000000n).toString(),
    });
  });
});
