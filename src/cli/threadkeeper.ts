#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { ThreadkeeperError } from "../errors.ts";
import { checkSqliteBinding } from "./sqlite-binding.ts";

const usage = `threadkeeper: the Discord bot whose threads remember

  threadkeeper            start the bot; without DISCORD_TOKEN, on a small Discord of its own in this terminal
  threadkeeper demo       play a short conversation, with a restart in the middle, and end
  threadkeeper check      read all sessions and tell what is wrong in them; nothing is changed
  threadkeeper export     write all sessions, or those that are named, as JSON Lines; --markdown: to be read by people;
                          --to FILE: into a file for you only
  threadkeeper import FILE
                          put exported sessions into the store, which may be one of another kind
  threadkeeper rekey      rewrite all sessions from SESSION_KEY_OLD to SESSION_KEY; either may be none; stop the bot first
  threadkeeper help       this text
  threadkeeper version    the version

Settings are read from .env in this folder and from the environment; .env.example explains them.`;

/** Commands that take further words. */
const tools: Readonly<Record<string, (words: readonly string[]) => Promise<number>>> = {
  export: async (words) => {
    checkSqliteBinding();
    return (await import("./export.ts")).exportSessions(words);
  },
  import: async (words) => {
    checkSqliteBinding();
    return (await import("./import.ts")).importSessions(words);
  },
};

const commands: Readonly<Record<string, () => Promise<number>>> = {
  start: async () => {
    checkSqliteBinding();
    return (await import("./start.ts")).start();
  },
  demo: async () => {
    checkSqliteBinding();
    return (await import("./demo.ts")).demo();
  },
  check: async () => {
    checkSqliteBinding();
    return (await import("./check.ts")).check();
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
  const [word = "start", ...more] = words;
  const command = commandFor(aliases[word] ?? word, more);
  if (!command) {
    console.error(`threadkeeper: there is no "${words.join(" ")}"\n\n${usage}`);
    return 2;
  }
  try {
    return await command();
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS")) {
      console.error(`threadkeeper: ${(error as Error).message}\n\n${usage}`);
      return 2;
    }
    if (!(error instanceof ThreadkeeperError)) throw error;
    console.error(`threadkeeper: ${error.message}`);
    return 1;
  }
}

function commandFor(word: string, more: readonly string[]): (() => Promise<number>) | undefined {
  const tool = Object.hasOwn(tools, word) ? tools[word] : undefined;
  if (tool) return () => tool(more);
  return Object.hasOwn(commands, word) && more.length === 0 ? commands[word] : undefined;
}

const code = await run(process.argv.slice(2));
process.exitCode = code;
// Whatever still holds the process (a socket in its handshake) has had its time; this timer alone does not hold it.
setTimeout(() => process.exit(code), 1_000).unref();
