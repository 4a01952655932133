/**
 * Every failure that we name, in one family. `code` is stable and is what other code switches on; `message` is one
 * plain sentence for the log and for developers, and says what to do where something can be done. Nothing here is
 * shown to members of a server as it stands: `reply/wording.ts` has the sentences for them.
 */
export type ErrorCode =
  | "CONFIG_INVALID"
  | "SESSION_ID_INVALID"
  | "SESSION_NOT_FOUND"
  | "SESSION_EXISTS"
  | "SESSION_STALE"
  | "NOT_PLAIN_JSON"
  | "QUEUE_FULL"
  | "INPUT_INVALID"
  | "RUN_LOST"
  | "RUN_STOPPED"
  | "RUN_DEADLINE"
  | "RUN_SHUTDOWN"
  | "STEP_LIMIT"
  | "STORE_SETTING_INVALID"
  | "STORE_UNAVAILABLE"
  | "STORE_BUSY"
  | "STORE_CORRUPT"
  | "STORE_FULL"
  | "STORE_FORMAT_NEWER"
  | "STORE_KEY_MISSING"
  | "STORE_KEY_WRONG"
  | "STORE_NOT_ENCRYPTED"
  | "STORE_CLOSED"
  | "MODEL_SETTING_INVALID"
  | "MODEL_KEY_MISSING"
  | "MODEL_KEY_REFUSED"
  | "MODEL_NOT_FOUND"
  | "MODEL_UNREACHABLE"
  | "MODEL_RATE_LIMITED"
  | "MODEL_INPUT_TOO_LONG"
  | "MODEL_EMPTY_ANSWER"
  | "MODEL_FAILED"
  | "TOOL_INVALID"
  | "DISCORD_TOKEN_REFUSED"
  | "DISCORD_INTENT_REFUSED"
  | "DISCORD_PERMISSION_MISSING"
  | "DISCORD_TOO_MANY_THREADS"
  | "DISCORD_UNREACHABLE"
  | "DISCORD_FAILED"
  | "UNEXPECTED";

/** What an error is about, for the log: plain values, never message text and never a secret. */
export type ErrorFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export class ThreadkeeperError extends Error {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;

  constructor(code: ErrorCode, message: string, options: { fields?: ErrorFields; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ThreadkeeperError";
    this.code = code;
    this.fields = options.fields ?? {};
  }
}

/** The session is another one since it was read: read it again, apply the change, save. */
export class StaleSessionError extends ThreadkeeperError {
  constructor(sessionId: string, why: string) {
    super("SESSION_STALE", `session ${sessionId} is not what was read: ${why}; get it again and repeat this`, {
      fields: { sessionId },
    });
    this.name = "StaleSessionError";
  }
}

/** `why`: where it is not the whole session that is missing. */
export function sessionNotFound(sessionId: string, why = `there is no session ${sessionId}`): ThreadkeeperError {
  return new ThreadkeeperError("SESSION_NOT_FOUND", why, { fields: { sessionId } });
}

export function sessionExists(sessionId: string): ThreadkeeperError {
  return new ThreadkeeperError("SESSION_EXISTS", `there is a session ${sessionId} already`, { fields: { sessionId } });
}

/** Whether `error` is one of ours with this code. */
export function hasCode<Code extends ErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is ThreadkeeperError & { code: Code } {
  return error instanceof ThreadkeeperError && (codes as ErrorCode[]).includes(error.code);
}

/** Any thrown value as one of ours; what is already ours stays as it is. */
export function toThreadkeeperError(error: unknown): ThreadkeeperError {
  if (error instanceof ThreadkeeperError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ThreadkeeperError("UNEXPECTED", message, { cause: error });
}
