import { ThreadkeeperError } from "../../errors.ts";
import type { Commit } from "./store.ts";

const validKey = /^[\x21-\x7e]{1,240}$/;

/**
 * Refuses what a driver would take and silently store as something else (SQLite binds a symbol as NULL), or what
 * stores would sort or match differently. Such a commit is a mistake in our own code.
 */
export function checkCommit({ key, put, remove = [] }: Commit): void {
  for (const each of [key, ...put.keys(), ...remove]) {
    if (typeof each !== "string" || !validKey.test(each)) throw refusal(`${JSON.stringify(each)} is not a key`);
  }
  if (put.size + remove.length === 0) throw refusal("it changes nothing");
  for (const [each, value] of put) {
    if (typeof value !== "string") throw refusal(`the value of ${each} is not a string, but ${typeof value}`);
  }
  for (const each of remove) if (put.has(each)) throw refusal(`${each} is to be written and removed at once`);
}

function refusal(why: string): ThreadkeeperError {
  return new ThreadkeeperError("UNEXPECTED", `the store was handed a commit that is none: ${why}`);
}
