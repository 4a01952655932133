import { ThreadkeeperError } from "../../errors.ts";
import { defaultNamespace } from "./keyv-of.ts";

/** The address of a database server, as a setting gives it. */
export interface ServerAddress {
  /** As its driver wants it, the password in it. Never shown. */
  readonly uri: string;
  /** What Keyv puts before the keys: the setting's `?namespace=`, so that several bots can share a database. */
  readonly namespace: string;
  /** Host, port and database, without user and password. */
  readonly place: string;
}

/** With it and a separator a key stays below the 255 characters that Keyv's table has for one. */
const validNamespace = /^[A-Za-z0-9_-]{1,14}$/;

/**
 * Takes `?namespace=` off the address; what else stands in it is the driver's. A Redis' address has nothing else.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`
 */
export function serverAddress(setting: string): ServerAddress {
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  // The setting itself is not repeated: there may be a password anywhere in what cannot be read.
  if (!url || ![url.username, url.password, url.host, url.pathname].every(isEncoded)) {
    throw refusal("the address of the store's server is none; what is odd in a password must be %-encoded, a % as %25");
  }
  const namespace = url.searchParams.get("namespace") ?? defaultNamespace;
  if (!validNamespace.test(namespace)) {
    throw refusal("the namespace of the store must be 1 to 14 letters, digits, _ or -");
  }
  const isRedis = /^rediss?:$/.test(url.protocol);
  if (isRedis && !/^\/?\d*$/.test(url.pathname)) throw refusal("after the host of a Redis stands a number, as in /0");
  // With a name that nobody reads a bot would work among another's sessions.
  const others = [...url.searchParams.keys()].filter((name) => name !== "namespace");
  const mistaken = others.find((name) => isRedis || /^na?me?_?-?sp/i.test(name));
  if (mistaken !== undefined) throw refusal(`?${mistaken}= is not known; did you mean ?namespace=?`);
  const named = url.searchParams.has("namespace");
  url.searchParams.delete("namespace");
  const host = decodeURIComponent(url.host) || url.searchParams.get("host") || "localhost";
  const place = `${host}${url.pathname === "/" ? "" : url.pathname}${named ? `, namespace ${namespace}` : ""}`;
  return { uri: named ? url.href : setting, namespace, place };
}

function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function refusal(why: string): ThreadkeeperError {
  return new ThreadkeeperError("STORE_SETTING_INVALID", `SESSION_STORE: ${why}`);
}
