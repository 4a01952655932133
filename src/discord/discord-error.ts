import { DiscordAPIError, HTTPError, RateLimitError, RESTJSONErrorCodes } from "discord.js";

/** Discord's own code of a refusal (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json). */
export function discordCode(error: unknown): number | undefined {
  return error instanceof DiscordAPIError && typeof error.code === "number" ? error.code : undefined;
}

/** The message is gone; whoever deleted it meant it. */
export function isGone(error: unknown): boolean {
  return discordCode(error) === RESTJSONErrorCodes.UnknownMessage;
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
  if (error instanceof DiscordAPIError) return error.status >= 500;
  if (error instanceof HTTPError || error instanceof RateLimitError) return true;
  // Everything else that `fetch` throws is about the network; programming errors are not.
  return error instanceof Error && !(error instanceof RangeError) && isNetworkError(error);
}

function isNetworkError(error: Error): boolean {
  if (error.name === "AbortError" || error.message === "fetch failed") return true;
  return "code" in error && typeof error.code === "string" && /^(?:E(?!RR_)[A-Z_]+|UND_ERR_\w+)$/.test(error.code);
}
