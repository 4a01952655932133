import { createRequire } from "node:module";
import { ThreadkeeperError } from "../errors.ts";

/**
 * sqlite3 is compiled or fetched by its install script, which npm 12 and some settings don't run. Then everything
 * that imports it would crash with a stack; this says what to do instead.
 * @throws ThreadkeeperError `STORE_UNAVAILABLE`
 */
export function checkSqliteBinding(load: (name: string) => unknown = requireBesideKeyv()): void {
  try {
    load("sqlite3");
  } catch (cause) {
    throw new ThreadkeeperError(
      "STORE_UNAVAILABLE",
      "the SQLite driver was installed without its binary, because npm did not run its install script. " +
        // npx keeps what it has installed, also the incomplete.
        "Run `npm cache npx rm --force`, and then the same npx command with `--allow-scripts=sqlite3` in it, " +
        "as in `npx --allow-scripts=sqlite3 ./threadkeeper.tgz` " +
        "(in a project: `npm install-scripts approve sqlite3` and then `npm rebuild sqlite3`).",
      { cause },
    );
  }
}

/** A `require` that finds what `@keyv/sqlite` finds, wherever the package manager has put it. */
function requireBesideKeyv(): (name: string) => unknown {
  return createRequire(createRequire(import.meta.url).resolve("@keyv/sqlite"));
}
