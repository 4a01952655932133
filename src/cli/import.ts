import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { ThreadkeeperError } from "../errors.ts";
import { parseLines } from "../session/session-lines.ts";
import { writeWholeSession } from "../session/whole-session.ts";
import { counted } from "./counted.ts";
import { readSettings } from "./settings.ts";
import { lastingStore } from "./store-setting.ts";
import { openToolStore } from "./tool-store.ts";

/**
 * Puts the sessions of a file that `export` wrote into the store. The whole file is looked through first, and a wrong
 * line of it keeps all of it out. Sessions that are there already are left as they are; gives 1 if some were.
 */
export async function importSessions(words: readonly string[]): Promise<number> {
  const { positionals } = parseArgs({ args: [...words], options: {}, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new ThreadkeeperError("INPUT_INVALID", "import needs the name of one file, as export writes it");
  }
  await lookThrough(file);
  const config = readSettings();
  // What is put into memory would be gone with this command.
  const store = await openToolStore(config, { setting: lastingStore(config) });
  try {
    let [written, there] = [0, 0];
    for await (const whole of parseLines(linesOf(file))) {
      if (await writeWholeSession(store, whole)) written += 1;
      else {
        there += 1;
        console.error(`threadkeeper: session ${whole.sessionId} is there already, and was left as it is`);
      }
    }
    console.log(`${counted(written, "session")} put into ${store.description}.`);
    return there === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function lookThrough(file: string): Promise<void> {
  try {
    for await (const _ of parseLines(linesOf(file)));
  } catch (cause) {
    if (!(cause instanceof ThreadkeeperError)) throw cause;
    throw new ThreadkeeperError(cause.code, `${file}: ${cause.message}; nothing was imported`, { cause });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder, and no file that export wrote",
};

/** Only a line feed ends a line: some characters that other readers take for one stand in JSON as they are. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = "";
  try {
    for await (const chunk of createReadStream(file, "utf8")) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new ThreadkeeperError("INPUT_INVALID", reasons[String(code)] ?? `it cannot be read: ${message}`, { cause });
  }
  if (rest !== "") yield rest;
}
