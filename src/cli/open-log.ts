import { mkdirSync } from "node:fs";
import path from "node:path";
import { destination as fileDestination } from "pino";
import pretty from "pino-pretty";
import type { Config } from "../config.ts";
import { createLogger, type Logger } from "../log.ts";

/** Where the program tells what it does: standard output, or a file where a person uses the terminal. */
export function openLog({ log, secrets }: Config, file?: string): Logger {
  if (file !== undefined) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return createLogger({
      level: log.level,
      secrets,
      destination: fileDestination({ dest: file, sync: true, mode: 0o600 }),
    });
  }
  const forPeople = log.format === "pretty" || (log.format === "auto" && process.stdout.isTTY);
  if (!forPeople) return createLogger({ level: log.level, secrets });
  return createLogger({
    level: log.level,
    secrets,
    destination: pretty({ colorize: process.stdout.isTTY, sync: true }),
  });
}
