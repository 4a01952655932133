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

/** Those of them that have options. */
const optionsOf: Readonly<Record<string, readonly string[]>> = { export: ["--markdown", "--to"] };

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

const aliases: ReadonlyMap<string, string> = new Map([
  ["--help", "help"],
  ["-h", "help"],
  ["--version", "version"],
  ["-v", "version"],
]);

const names = [...Object.keys(commands), ...Object.keys(tools)];

/** Runs one command; gives the exit code. An error of ours is a sentence, not a stack. */
async function run(words: readonly string[]): Promise<number> {
  const [first = "start", ...more] = words;
  const word = aliases.get(first) ?? first;
  const asksForHelp =
    word === "help"
      ? more.every((other) => isCommand(aliases.get(other) ?? other))
      : isCommand(word) && more.some((other) => aliases.get(other) === "help");
  if (asksForHelp) return help();
  const command = commandFor(word, more);
  if (!command) return misused(mistake(word, more));
  try {
    return await command();
  } catch (error) {
    if (isMisuse(error)) return misused(optionMistake(word, error));
    if (!(error instanceof ThreadkeeperError)) throw error;
    console.error(`threadkeeper: ${error.message}`);
    return 1;
  }
}

/** The whole help would push out of sight what was wrong. */
function misused(why: string): number {
  console.error(`threadkeeper: ${why}\n"threadkeeper --help" tells what there is.`);
  return 2;
}

/** What is wrong: the command, or what stands behind one that stands alone. `help` has commands behind it. */
function mistake(word: string, more: readonly string[]): string {
  const unknown = (word === "help" && more.find((other) => !isCommand(other))) || word;
  if (isCommand(unknown)) return takesNo(word, more.find((other) => other.startsWith("-")) ?? more.join(" "));
  return `there is no "${unknown}"${meant(unknown, [...names, "--help", "--version"])}`;
}

function optionMistake(word: string, { message }: Error): string {
  // What Node adds is how to name a file with a dash.
  const why = message.replace(/\.\s.*$/s, "");
  const wrong = /'(-\S+)'/.exec(why)?.[1] ?? "";
  const options = optionsOf[word];
  return options ? `${word}: ${why}${meant(wrong, options)}` : takesNo(word, wrong);
}

function takesNo(word: string, wrong: string): string {
  return `${word} takes no ${wrong.startsWith("-") ? "options" : "words behind it"}: leave out "${wrong}"`;
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
