import { DiscordAPIError, HTTPError, RESTJSONErrorCodes } from "discord.js";
import { ThreadkeeperError, toThreadkeeperError } from "../errors.ts";

/** Discord's own code of a refusal (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
export function discordCode(error: unknown): number | undefined {
  return error instanceof DiscordAPIError && typeof error.code === "number" ? error.code : undefined;
}

/** The message is gone; whoever deleted it meant it. */
export function isGone(error: unknown): boolean {
  return discordCode(error) === RESTJSONErrorCodes.UnknownMessage;
}

/** The channel or thread is gone; of one that may only not be seen Discord says something else. */
export function isChannelGone(error: unknown): boolean {
  return discordCode(error) === RESTJSONErrorCodes.UnknownChannel;
}

/** Too many active threads in the server, or in the channel. */
export function isTooManyThreads(error: unknown): boolean {
  const code = discordCode(error);
  return (
    code === RESTJSONErrorCodes.MaximumActiveThreads || code === RESTJSONErrorCodes.MaximumActiveAnnouncementThreads
  );
}

export function isPermissionMissing(error: unknown): boolean {
  const code = discordCode(error);
  return code === RESTJSONErrorCodes.MissingPermissions || code === RESTJSONErrorCodes.MissingAccess;
}

/**
 * Whether the same request may succeed a little later: the server failed, or the way to it did. A 429 never gets
 * here (discord.js waits and repeats it), and what Discord refused it will refuse again.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof HTTPError) return true;
  // What else `fetch` throws about the network: a time limit, a broken or refused connection.
  if (!(error instanceof Error) || error instanceof DiscordAPIError) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.name === "AbortError" || /^(?:E(?!RR_)[A-Z_]+|UND_ERR_\w+)$/.test(code);
}

/** A failed request as one of our errors: Discord refused it, or can't be reached. Anything else stays what it is. */
export function toOurError(error: unknown, what: string): ThreadkeeperError {
  if (isPassing(error)) {
    return new ThreadkeeperError("DISCORD_UNREACHABLE", `${what}: Discord can't be reached`, { cause: error });
  }
  if (!(error instanceof DiscordAPIError)) return toThreadkeeperError(error);
  const fields = { discordCode: discordCode(error), status: error.status };
  return new ThreadkeeperError("DISCORD_FAILED", `${what}: ${error.message}`, { fields, cause: error });
}
