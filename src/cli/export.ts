import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { parseArgs } from "node:util";
import { hasCode, sessionNotFound, ThreadkeeperError } from "../errors.ts";
import { formatLines } from "../session/session-lines.ts";
import type { Store } from "../session/store/store.ts";
import { sessionIds } from "../session/store-walk.ts";
import { readWholeSession } from "../session/whole-session.ts";
import { counted } from "./counted.ts";
import { sessionMarkdown } from "./session-markdown.ts";
import { readSettings } from "./settings.ts";
import { existingStore } from "./store-setting.ts";
import { openToolStore } from "./tool-store.ts";

/**
 * Writes sessions as JSON Lines, or as Markdown for people: all, or those that are named; to standard output, or to a
 * file for this user only. What cannot be read is told and left out. Gives 1 if something was.
 */
export async function exportSessions(words: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { markdown: { type: "boolean" }, to: { type: "string" } },
    allowPositionals: true,
  });
  const config = readSettings();
  const store = await openToolStore(config, { setting: existingStore(config), readOnly: true });
  const out = values.to === undefined ? process.stdout : createWriteStream(values.to, { flags: "wx", mode: 0o600 });
  // Whoever reads it may have had enough; a file may not be written.
  const failed = new Promise<never>((_, reject) => out.once("error", reject));
  failed.catch(() => {});
  let begun = false;
  out.once("open", () => {
    begun = true;
  });
  try {
    let [written, unreadable] = [0, 0];
    for await (const sessionId of positionals.length > 0 ? positionals : sessionIds(store)) {
      const lines = await linesOf(store, sessionId, values.markdown ?? false).catch((error: unknown) => {
        if (!hasCode(error, "STORE_CORRUPT", "STORE_FORMAT_NEWER", "SESSION_NOT_FOUND", "SESSION_ID_INVALID"))
          throw error;
        console.error(`threadkeeper: session ${sessionId} is left out: ${error.message}`);
        return undefined;
      });
      if (!lines) unreadable += 1;
      else written += 1;
      for (const line of lines ?? []) await Promise.race([failed, write(out, line)]);
    }
    if (values.to !== undefined) {
      out.end();
      await Promise.race([failed, once(out, "finish")]);
    }
    console.error(`threadkeeper: ${counted(written, "session")} of ${store.description} written`);
    return unreadable === 0 ? 0 : 1;
  } catch (error) {
    // A part of an export could be taken for one; one that was there before is not ours.
    if (begun && values.to !== undefined) await rm(values.to, { force: true });
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return 0;
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw unwritable(values.to, error);
    throw error;
  } finally {
    await store.close();
  }
}

async function linesOf(store: Store, sessionId: string, markdown: boolean): Promise<Iterable<string>> {
  const whole = await readWholeSession(store, sessionId);
  if (!whole) throw sessionNotFound(sessionId);
  return markdown ? sessionMarkdown(whole) : formatLines(whole);
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "is there already, and is left as it is: choose another name",
  ENOENT: "cannot be made: its folder is not there",
};

function unwritable(file = "standard output", cause: unknown): ThreadkeeperError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = reasons[String(code)] ?? `cannot be written: ${message}`;
  return new ThreadkeeperError("INPUT_INVALID", `${file} ${why}`, { cause });
}

/** Resolves when as much is out as is to be held back for nobody. */
function write(out: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => out.write(text, (error) => (error ? reject(error) : resolve())));
}
