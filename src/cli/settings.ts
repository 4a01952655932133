import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "dotenv";
import { type Config, readConfig } from "../config.ts";
import { ThreadkeeperError } from "../errors.ts";

/** The settings of this folder's `.env`, if there is one, and of the environment. */
export function readSettings(folder = process.cwd(), env: NodeJS.ProcessEnv = process.env): Config {
  return readConfig(parse(readIfThere(path.join(folder, ".env"))), env);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new ThreadkeeperError("CONFIG_INVALID", `${file} is there but cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
