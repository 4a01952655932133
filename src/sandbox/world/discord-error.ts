import type { RESTErrorData } from "discord-api-types/v10";

/** Status and sentence of every error that the sandbox answers with. https://discord.com/developers/docs/topics/opcodes-and-status-codes */
const sentences = {
  10003: [404, "Unknown Channel"],
  10004: [404, "Unknown Guild"],
  10007: [404, "Unknown Member"],
  10008: [404, "Unknown Message"],
  10013: [404, "Unknown User"],
  10015: [404, "Unknown Webhook"],
  10062: [404, "Unknown interaction"],
  10063: [404, "Unknown application command"],
  20012: [403, "You are not authorized to perform this action on this application"],
  30032: [400, "Maximum number of application commands reached (100)."],
  30034: [400, "Max number of daily application command creates has been reached (200)"],
  30046: [429, "Maximum number of edits to messages older than 1 hour reached. Try again later"],
  40060: [400, "Interaction has already been acknowledged."],
  50001: [403, "Missing Access"],
  50003: [403, "Cannot execute action on a DM channel"],
  50005: [403, "Cannot edit a message authored by another user"],
  50006: [400, "Cannot send an empty message"],
  50007: [403, "Cannot send messages to this user"],
  50008: [400, "Cannot send messages in a non-text channel"],
  50013: [403, "Missing Permissions"],
  50021: [403, "Cannot execute action on a system message"],
  50024: [400, "Cannot execute action on this channel type"],
  50027: [401, "Invalid Webhook Token"],
  50034: [400, "You can only bulk delete messages that are under 14 days old."],
  50035: [400, "Invalid Form Body"],
  50083: [400, "Thread is archived"],
  50109: [400, "The request body contains invalid JSON."],
  160002: [400, "Cannot reply without permission to read message history"],
  160004: [400, "A thread has already been created for this message"],
  160005: [400, "Thread is locked"],
  160006: [400, "Maximum number of active threads reached"],
} as const satisfies Record<number, readonly [status: number, message: string]>;

export type DiscordErrorCode = keyof typeof sentences;

/** A request that Discord refuses, of a bot or of a person alike; to people its message also names the reasons. */
export class DiscordError extends Error {
  readonly code: DiscordErrorCode;
  readonly status: number;
  /** What is wrong with which field. */
  readonly errors: RESTErrorData | undefined;

  constructor(code: DiscordErrorCode, errors?: RESTErrorData) {
    const [status, message] = sentences[code];
    super(errors ? `${message} (${reasonsIn(errors).join("; ")})` : message);
    this.name = "DiscordError";
    this.code = code;
    this.status = status;
    this.errors = errors;
  }

  /** The answer's body. */
  toBody(): { message: string; code: number; errors?: RESTErrorData } {
    return { message: sentences[this.code][1], code: this.code, ...(this.errors && { errors: this.errors }) };
  }
}

/** As in "embeds.0.title: Must be a string." */
function reasonsIn(errors: RESTErrorData, path: readonly string[] = []): string[] {
  if (typeof errors === "string") return [errors];
  if ("_errors" in errors && Array.isArray(errors._errors)) {
    // The types allow for any field to be called so.
    const reasons = errors._errors as unknown as readonly { readonly message: string }[];
    return reasons.map(({ message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  }
  return Object.entries(errors).flatMap(([name, inner]) => reasonsIn(inner as RESTErrorData, [...path, name]));
}

/** 50035 for one field; `path` leads to it, as in `["embeds", "0", "title"]`. */
export function invalid(path: readonly string[], code: string, message: string): DiscordError {
  let errors: RESTErrorData = { _errors: [{ code, message }] } as RESTErrorData;
  for (const name of path.toReversed()) errors = { [name]: errors };
  return new DiscordError(50035, errors);
}
