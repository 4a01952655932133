import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { Program } from "./support/program.ts";

let folder: string;
const programs: Program[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-program-"));
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program.kill();
  await rm(folder, { recursive: true, force: true });
});

function run(words: string[], env: Record<string, string> = {}): Program {
  const program = new Program(words, { folder, env });
  programs.push(program);
  return program;
}

describe("threadkeeper start, without a token", () => {
  it("opens a Discord in the terminal, and the thread still remembers after leaving and coming back", async () => {
    const first = run(["start"]);
    first.says("@Threadkeeper The parrot is called Quintus.");
    expect(await first.ends()).toBe(0);
    expect(first.output).toContain("You are Ada.");
    expect(first.output).toContain("a thread is opened on it: “The parrot is called Quintus.”");

    const second = run([]);
    second.says("What is the parrot called?");
    expect(await second.ends()).toBe(0);
    expect(second.output).toContain("You were here before.");
    const answer = second.output.slice(second.output.indexOf("Ada: What is the parrot called?"));
    expect(answer).toContain("> The parrot is called Quintus.");

    const third = run([]);
    third.says("/reset");
    third.says("What is the parrot called?");
    third.says(":quit");
    expect(await third.ends()).toBe(0);
    expect(third.output.slice(third.output.indexOf("Forgotten"))).not.toContain("Quintus");
  });

  it("keeps what it keeps for this user only", async () => {
    const program = run(["start"]);
    program.says("@Threadkeeper hello");
    await program.ends();
    const mode = async (name: string) => (await stat(path.join(folder, name))).mode & 0o777;
    expect(await mode("data")).toBe(0o700);
    expect(await mode("data/sandbox")).toBe(0o700);
    for (const name of ["discord.json", "sessions.sqlite", "threadkeeper.log"]) {
      expect([name, await mode(`data/sandbox/${name}`)]).toEqual([name, 0o600]);
    }
    expect(await readFile(path.join(folder, "data/sandbox/threadkeeper.log"), "utf8")).not.toContain("hello");
  });

  it("lets one be somebody else, list threads and read the help", async () => {
    const program = run(["start"]);
    for (const line of [
      ":as Ben",
      "@Threadkeeper I like tea.",
      ":general",
      ":threads",
      ":thread 1",
      ":nonsense",
      "/nonsense",
    ]) {
      program.says(line);
    }
    expect(await program.ends()).toBe(0);
    expect(program.output).toContain("Ben: @Threadkeeper I like tea.");
    expect(program.output).toContain("1  I like tea.");
    expect(program.output).toContain("there is no :nonsense");
    expect(program.output).toContain("there is no command /nonsense here");
  });

  it("runs on without anybody at the keyboard, until it is told to stop", async () => {
    const program = run(["start"]);
    program.process.stdin?.end();
    await program.prints("You are Ada.");
    expect(await program.kill("SIGTERM")).toBe(0);
  });
});

describe("threadkeeper start, with a token", () => {
  it("connects, prints the invite link, and stops in order when it is told to", async () => {
    const sandbox = await startSandbox();
    try {
      const program = run(["start"], { DISCORD_TOKEN: sandbox.botToken, DISCORD_API_URL: sandbox.api, MODEL: "demo" });
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
      const program = run(["start"], { DISCORD_API_URL: sandbox.api, ...env } as Record<string, string>);
      expect(await program.ends()).toBe(1);
      expect(program.output).toMatch(sentence);
      expect(program.output).not.toMatch(/^\s+at /m);
    } finally {
      await sandbox.close();
    }
  });

  it("says so when the intent is switched off in the portal, and does not try again and again", async () => {
    const sandbox = await startSandbox({ intents: [] });
    try {
      const env = { DISCORD_TOKEN: sandbox.botToken, DISCORD_API_URL: sandbox.api, MODEL: "demo" };
      const program = run(["start"], env);
      expect(await program.ends()).toBe(1);
      expect(program.output).toContain("Message Content Intent");
      expect(sandbox.counters.connections).toBe(1);
    } finally {
      await sandbox.close();
    }
  });

  it("names all mistakes in .env at once", async () => {
    await writeFile(path.join(folder, ".env"), "DISCORD_TOKN=x\nMAX_RUNS=none\n");
    const program = run(["start"]);
    expect(await program.ends()).toBe(1);
    expect(program.output).toContain("did you mean DISCORD_TOKEN?");
    expect(program.output).toContain("MAX_RUNS must be a whole number");
  });
});

describe("threadkeeper demo", () => {
  it("shows memory across a restart of the bot's process, and its loss by /reset", async () => {
    const program = run(["demo"]);
    expect(await program.ends()).toBe(0);
    const [before = "", after = "", reset = ""] = program.output.split(/^--- .* ---$/m);
    expect(before).toContain("↳ thread");
    expect(after).toContain("Ada: When is the deadline for Project Alpha?");
    expect(after).toContain("> The deadline for Project Alpha is December 27.");
    expect(reset).toContain("Ada: When is the deadline for Project Alpha?");
    expect(reset).toContain("I have nothing on that in this conversation");
    expect(reset).not.toContain("> The deadline");

    // The README shows this very output.
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const shown = /```text\n(.*?)```/s.exec(readme)?.[1] ?? "";
    const anyTime = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d at \d\d:\d\d/g, "(time)");
    expect(anyTime(program.output)).toContain(anyTime(shown.trim()));
  });
});

describe("threadkeeper", () => {
  it("has a help text, and says what it does not know", async () => {
    const help = run(["--help"]);
    expect(await help.ends()).toBe(0);
    expect(help.output).toContain("threadkeeper demo");
    const unknown = run(["dance"]);
    expect(await unknown.ends()).toBe(2);
    expect(unknown.output).toContain('there is no "dance"');
  });
});
