import { type ErrorCode, ThreadkeeperError } from "../../errors.ts";

/** SQLite's primary result codes (https://sqlite.org/rescode.html), as far as they say something about the store. */
const codes: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  3: ["STORE_UNAVAILABLE", "may not be used by this user: check who owns it"],
  5: ["STORE_BUSY", "is locked by another process: close the program that holds it"],
  6: ["STORE_BUSY", "is locked by another process: close the program that holds it"],
  8: ["STORE_UNAVAILABLE", "cannot be written: check who owns the file, and its directory"],
  10: ["STORE_UNAVAILABLE", "failed to read or write: check the disk, and whether it is full"],
  11: ["STORE_CORRUPT", "is damaged: restore a backup of it"],
  13: ["STORE_FULL", "is on a disk that is full: make room"],
  14: ["STORE_UNAVAILABLE", "cannot be opened: check the path, and who owns it"],
  15: ["STORE_BUSY", "is locked by another process: close the program that holds it"],
  21: ["STORE_CLOSED", "is closed"],
  23: ["STORE_UNAVAILABLE", "may not be used by this user: check who owns it"],
  26: ["STORE_CORRUPT", "is not a SQLite database: choose another path, or move that file away"],
};

/**
 * A failure of the driver as one of ours. What says nothing about the store itself (a value too large, or refused by a
 * constraint) is `UNEXPECTED`: the next commit may well go through.
 */
export function sqliteError(error: unknown, description: string): ThreadkeeperError {
  const { errno, message } = error as { errno?: unknown; message?: unknown };
  // The upper bits say more about the same thing (https://sqlite.org/rescode.html#primary_result_codes_versus_extended_result_codes).
  const [code, why] = (typeof errno === "number" && codes[errno & 0xff]) || ["UNEXPECTED", "refused a statement"];
  return new ThreadkeeperError(code as ErrorCode, `${description} ${why} (${message})`, { cause: error });
}
