#!/usr/bin/env node
import { readFileSync } from "node:fs";
import leven from "leven";
import { ThreadkeeperError } from "../errors.ts";
import { checkSqliteBinding } from "./sqlite-binding.ts";

const usage = `threadkeeper: the Discord bot whose threads remember

  threadkeeper            start the bot; without DISCORD_TOKEN, on a small Discord of its own in this terminal
  threadkeeper demo       play a short conversation, with a restart in the middle, and end
  threadkeeper check      read all sessions and tell what is wrong in them; nothing is changed
  threadkeeper export [SESSION ...]
                          write all sessions, or those that are named (discord:THREAD-ID), as JSON Lines;
                          --markdown: to be read by people; --to FILE: into a new file for you only
  threadkeeper import FILE
                          put exported sessions into the store, which may be one of another kind
  threadkeeper backup [FILE]
                          copy the SQLite file, which may be in use, into a new file for you only
  threadkeeper rekey      rewrite all sessions from SESSION_KEY_OLD to SESSION_KEY; either may be none; stop the bot first
  threadkeeper help       this text
  threadkeeper version    the version

Settings are read from .env in this folder and from the environment; .env.example explains them.`;

/** Commands that take further words. */
const tools: Readonly<Record<string, (words: readonly string[]) => Promise<number>>> = {
  backup: async (words) => {
    checkSqliteBinding();
    return (await import("./backup.ts")).backup(words);
  },
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
  help,
  version: async () => {
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    console.log((JSON.parse(manifest) as { version: string }).version);
    return 0;
  },
};

async function help(): Promise<number> {
  console.log(usage);
  return 0;
}

const aliases: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
};

const names = [...Object.keys(commands), ...Object.keys(tools)];

/** Runs one command; gives the exit code. An error of ours is a sentence, not a stack. */
async function run(words: readonly string[]): Promise<number> {
  const [first = "start", ...more] = words;
  const word = aliases[first] ?? first;
  const asksForHelp =
    word === "help" ? more.every(isCommand) : isCommand(word) && more.some((other) => aliases[other] === "help");
  if (asksForHelp) return help();
  const command = commandFor(word, more);
  if (!command) return misused(`there is no "${words.join(" ")}"${hint(word)}`);
  try {
    return await command();
  } catch (error) {
    if (isMisuse(error)) {
      // What Node adds is how to name a file with a dash.
      const why = error.message.replace(/\. To specify .*$/s, "");
      return misused(`${word}: ${why}${meant(/'(--\S+)'/.exec(why)?.[1] ?? "", ["--markdown", "--to"])}`);
    }
    if (!(error instanceof ThreadkeeperError)) throw error;
    console.error(`threadkeeper: ${error.message}`);
    return 1;
  }
}

function misused(why: string): number {
  console.error(`threadkeeper: ${why}\n\n${usage}`);
  return 2;
}

/** What was probably meant. Only the first word is a command; it may be right, and have more behind it than it takes. */
function hint(word: string): string {
  return isCommand(word) && word !== "help" ? `; ${word} stands alone` : meant(word, names);
}

function meant(wrong: string, known: readonly string[]): string {
  const nearest = known.find((name) => leven(wrong, name) <= 2);
  return nearest === undefined || nearest === wrong ? "" : `; did you mean ${nearest}?`;
}

function isCommand(word: string): boolean {
  return names.includes(word);
}

function isMisuse(error: unknown): error is Error {
  return error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS");
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
