import { type ErrorCode, ThreadkeeperError } from "../../errors.ts";

type Meaning = readonly [ErrorCode, string];

const unreachable: Meaning = ["STORE_UNAVAILABLE", "cannot be reached: check that it runs, and the address"];
const busy: Meaning = ["STORE_BUSY", "is held up by another transaction or process: try again"];
const full: Meaning = ["STORE_FULL", "has no room left: make some"];
const login: Meaning = ["STORE_UNAVAILABLE", "refused the login: check user and password"];
const forbidden: Meaning = ["STORE_UNAVAILABLE", "does not let this user read and write: check the user's rights"];
const readOnly: Meaning = ["STORE_UNAVAILABLE", "takes no writes: give the address of the primary server"];
const certificate: Meaning = [
  "STORE_UNAVAILABLE",
  "shows a certificate that is not trusted: check it, and the address",
];
const damaged: Meaning = ["STORE_CORRUPT", "is damaged: restore a backup of it"];

/** PostgreSQL's (https://www.postgresql.org/docs/current/errcodes-appendix.html), whole or by their class; and Node's. */
const codes: Readonly<Record<string, Meaning>> = {
  "08": unreachable,
  "28": login,
  "3D": ["STORE_UNAVAILABLE", "does not have that database: create it"],
  "25006": readOnly,
  "40": busy,
  "42501": forbidden,
  "42P01": ["STORE_UNAVAILABLE", "no longer has its table: restore a backup of it, or start again"],
  "53": full,
  "53300": ["STORE_UNAVAILABLE", "has no connection left: raise max_connections, or close other programs"],
  "55000": ["STORE_UNAVAILABLE", "does not let anybody in: see how that database is set"],
  "55P03": busy,
  "57": unreachable,
  "57014": busy,
  "58": ["STORE_UNAVAILABLE", "failed to read or write: check its disk"],
  XX001: damaged,
  XX002: damaged,
};

/** What Redis puts before a message (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const words: Readonly<Record<string, Meaning>> = {
  NOAUTH: login,
  WRONGPASS: login,
  NOPERM: forbidden,
  READONLY: readOnly,
  OOM: full,
  MISCONF: ["STORE_UNAVAILABLE", "cannot write to its disk: see its log"],
  LOADING: ["STORE_BUSY", "is still loading its data: try again"],
  BUSY: busy,
  TRYAGAIN: busy,
  MASTERDOWN: unreachable,
  CLUSTERDOWN: unreachable,
};

const lost =
  /^(?:Connection terminated|timeout exceeded when trying|Query read timeout|Client has encountered a connection|Client was closed|The client is (?:closed|offline)|Socket (?:closed|timeout)|Disconnect|Connection timeout|The server does not support SSL)/i;

/**
 * A failure of a server's driver as one of ours. What says nothing about the server itself (a value that it refused) is
 * `UNEXPECTED`: the next commit may well go through. Drivers hang much onto their errors, settings and rows too, so that
 * only the message is kept.
 */
export function serverError(error: unknown, description: string): ThreadkeeperError {
  if (error instanceof ThreadkeeperError) return error;
  const { code, message } = firstOf(error);
  const [ours, why] = meaningOf(code, message) ?? (["UNEXPECTED", "refused a command"] as const);
  return new ThreadkeeperError(ours, `${description} ${why} (${message})`);
}

/** For who only looks at a database, and makes no table: unlike for a bot that runs, it may be another that is meant. */
export function noTable(description: string): ThreadkeeperError {
  return new ThreadkeeperError(
    "STORE_UNAVAILABLE",
    `${description} has no table of sessions: either nothing was ever kept there (see whether SESSION_STORE names the right database), or the table was dropped (then restore a backup)`,
  );
}

function meaningOf(code: string, message: string): Meaning | undefined {
  const known = codes[code] ?? words[/^[A-Z]+/.exec(message)?.[0] ?? ""] ?? classOf(code);
  if (known) return known;
  if (message.startsWith("ERR AUTH ")) return login;
  if (message.startsWith("ERR DB index"))
    return ["STORE_UNAVAILABLE", "does not have that database: give a lower number"];
  if (/CERT|_TLS_|_SSL_|SIGNATURE/.test(code)) return certificate;
  return /^E[A-Z_]{3,}$/.test(code) || lost.test(message) ? unreachable : undefined;
}

/** The first two of PostgreSQL's five characters. */
function classOf(code: string): Meaning | undefined {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? codes[code.slice(0, 2)] : undefined;
}

/** Of a host with several addresses Node tells one failure for each, and no message. */
function firstOf(error: unknown): { code: string; message: string } {
  const { errors, code, message } = error as { errors?: unknown; code?: unknown; message?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return firstOf(errors[0]);
  return { code: typeof code === "string" ? code : "", message: String(message || error) };
}
