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
 * Takes `?namespace=` off the address; what else stands in it is the driver's.
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`
 */
export function serverAddress(setting: string): ServerAddress {
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  // The setting itself is not repeated: there may be a password anywhere in what cannot be read.
  if (!url) throw refusal("the address of the store's server is none; what is odd in a password must be %-encoded");
  const namespace = url.searchParams.get("namespace") ?? defaultNamespace;
  if (!validNamespace.test(namespace)) {
    throw refusal("the namespace of the store must be 1 to 14 letters, digits, _ or -");
  }
  const named = url.searchParams.has("namespace");
  url.searchParams.delete("namespace");
  const host = decodeURIComponent(url.host) || url.searchParams.get("host") || "localhost";
  const place = `${host}${url.pathname === "/" ? "" : url.pathname}${named ? `, namespace ${namespace}` : ""}`;
  return { uri: named ? url.href : setting, namespace, place };
}

function refusal(why: string): ThreadkeeperError {
  return new ThreadkeeperError("STORE_SETTING_INVALID", `SESSION_STORE: ${why}`);
}
