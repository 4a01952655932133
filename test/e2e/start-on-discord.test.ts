import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { programFolder } from "./support/program.ts";

const place = programFolder();

describe("threadkeeper start, with a token", () => {
  it("connects, prints the invite link, and stops in order when it is told to", async () => {
    const sandbox = await startSandbox();
    try {
      const program = place.run(["start"], {
        DISCORD_TOKEN: sandbox.botToken,
        DISCORD_API_URL: sandbox.api,
        MODEL: "demo",
      });
      await program.prints("Invite it to a server with: https://discord.com/oauth2/authorize?");
      expect(program.output).toContain("Threadkeeper is on Discord as Threadkeeper, in 1 server, answering with demo.");
      expect(await program.kill("SIGTERM")).toBe(0);
      expect(program.output).not.toContain(sandbox.botToken);
    } finally {
      await sandbox.close();
    }
  });

  it.each([
    [
      "a token that Discord refuses",
      { DISCORD_TOKEN: "wrong", MODEL: "demo" },
      /refuses the bot's token: .*DISCORD_TOKEN/,
    ],
    ["a model without its key", { DISCORD_TOKEN: "x", MODEL: "openai:gpt-5-mini" }, /OPENAI_API_KEY is missing/],
    ["no model", { DISCORD_TOKEN: "x" }, /MODEL is missing/],
    ["an unknown store", { DISCORD_TOKEN: "x", MODEL: "demo", SESSION_STORE: "floppy:a" }, /SESSION_STORE/],
    ["no token in production", { NODE_ENV: "production" }, /DISCORD_TOKEN is missing/],
  ])("says in a sentence what is wrong with %s, and exits 1", async (_what, env, sentence) => {
    const sandbox = await startSandbox();
    try {
      const program = place.run(["start"], { DISCORD_API_URL: sandbox.api, ...env } as Record<string, string>);
      expect(await program.ends()).toBe(1);
      expect(program.output).toMatch(sentence);
      expect(program.output).not.toMatch(/^\s+at /m);
    } finally {
      await sandbox.close();
    }
  });

  it("stops at once when it is told to before Discord has answered", async () => {
    const sandbox = await startSandbox();
    try {
      sandbox.faults.slow({ ms: 30_000 });
      const program = place.run(["start"], {
        DISCORD_TOKEN: sandbox.botToken,
        DISCORD_API_URL: sandbox.api,
        MODEL: "demo",
      });
      await sandbox.until(() => Object.keys(sandbox.counters.requests).length > 0, { timeoutMs: 30_000 });
      expect(await program.kill("SIGTERM")).toBe(0);
    } finally {
      await sandbox.close();
    }
  });

  it("says so when the intent is switched off in the portal, and does not try again and again", async () => {
    const sandbox = await startSandbox({ intents: [] });
    try {
      const env = { DISCORD_TOKEN: sandbox.botToken, DISCORD_API_URL: sandbox.api, MODEL: "demo" };
      const program = place.run(["start"], env);
      expect(await program.ends()).toBe(1);
      expect(program.output).toContain("Message Content Intent");
      expect(sandbox.counters.connections).toBe(1);
    } finally {
      await sandbox.close();
    }
  });

  it("names all mistakes in .env at once", async () => {
    await writeFile(path.join(place.folder, ".env"), "DISCORD_TOKN=x\nMAX_RUNS=none\n");
    const program = place.run(["start"]);
    expect(await program.ends()).toBe(1);
    expect(program.output).toContain("did you mean DISCORD_TOKEN?");
    expect(program.output).toContain("MAX_RUNS must be a whole number");
  });
});

describe("threadkeeper", () => {
  it("has a help text, and says what it does not know", async () => {
    const help = place.run(["--help"]);
    expect(await help.ends()).toBe(0);
    expect(help.output).toContain("threadkeeper demo");
    const unknown = place.run(["dance"]);
    expect(await unknown.ends()).toBe(2);
    expect(unknown.output).toContain('there is no "dance"');
  });
});
