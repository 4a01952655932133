#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { ThreadkeeperError } from "../errors.ts";
import { checkSqliteBinding } from "./sqlite-binding.ts";

const usage = `threadkeeper: the Discord bot whose threads remember

  threadkeeper            start the bot; without DISCORD_TOKEN, on a small Discord of its own in this terminal
  threadkeeper demo       play a short conversation, with a restart in the middle, and end
  threadkeeper rekey      rewrite all sessions from SESSION_KEY_OLD to SESSION_KEY; either may be none; stop the bot first
  threadkeeper help       this text
  threadkeeper version    the version

Settings are read from .env in this folder and from the environment; .env.example explains them.`;

const commands: Readonly<Record<string, () => Promise<number>>> = {
  start: async () => {
    checkSqliteBinding();
    return (await import("./start.ts")).start();
  },
  demo: async () => {
    checkSqliteBinding();
    return (await import("./demo.ts")).demo();
  },
  rekey: async () => {
    checkSqliteBinding();
    return (await import("./rekey.ts")).rekey();
  },
  help: async () => {
    console.log(usage);
    return 0;
  },
  version: async () => {
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    console.log((JSON.parse(manifest) as { version: string }).version);
    return 0;
  },
};

const aliases: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

/** Runs one command; gives the exit code. An error of ours is a sentence, not a stack. */
async function run(words: readonly string[]): Promise<number> {
  const word = words[0] ?? "start";
  const command = Object.hasOwn(commands, aliases[word] ?? word) ? commands[aliases[word] ?? word] : undefined;
  if (!command || words.length > 1) {
    console.error(`threadkeeper: there is no "${words.join(" ")}"\n\n${usage}`);
    return 2;
  }
  try {
    return await command();
  } catch (error) {
    if (!(error instanceof ThreadkeeperError)) throw error;
    console.error(`threadkeeper: ${error.message}`);
    return 1;
  }
}

const code = await run(process.argv.slice(2));
process.exitCode = code;
// Whatever still holds the process (a socket in its handshake) has had its time; this timer alone does not hold it.
setTimeout(() => process.exit(code), 1_000).unref();
