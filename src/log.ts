import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

/** What looks like a secret though nobody named it: providers' keys, authorisations, bot tokens, interaction tokens. */
const secretLike: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|xai|gsk|AIza)[-_A-Za-z0-9]{12,}/g, "[secret]"],
  [/\b(Bearer|Bot)\s+[\w.~+/-]{12,}=*/g, "$1 [secret]"],
  [/\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}/g, "[secret]"],
  [/\b(webhooks|interactions)\/(\d+)\/[\w.~-]{20,}/g, "$1/$2/[secret]"],
];

/** Takes secrets out of a text: the ones given (tokens and keys that were configured) and what looks like one. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < 6) continue;
    // A log line is JSON, in which a secret may look otherwise.
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) clean = clean.replaceAll(form, "[secret]");
  }
  for (const [pattern, instead] of secretLike) clean = clean.replace(pattern, instead);
  return clean;
}

/**
 * What a log may know of an error. Not its other properties: discord.js puts the body of the request on its errors,
 * which is what somebody wrote, and the AI SDK the whole conversation.
 */
function plainError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code, status, method, fields } = error as unknown as Record<string, unknown>;
  return {
    type: name,
    message,
    ...Object.fromEntries(Object.entries({ code, status, method, fields }).filter(([, value]) => value !== undefined)),
    stack,
    ...(cause !== undefined && depth < 4 && { cause: plainError(cause, depth + 1) }),
  };
}

export interface LogOptions {
  readonly level: string;
  /** Configured tokens and keys: they appear in no line, whoever logs them. */
  readonly secrets?: readonly string[];
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** One JSON object a line (https://getpino.io). Message text is logged at `trace` only. */
export function createLogger({ level, secrets = [], destination }: LogOptions): Logger {
  const options = {
    level,
    base: null,
    serializers: { err: (error: unknown) => plainError(error) },
    hooks: { streamWrite: (line: string) => redact(line, secrets) },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Says nothing: the default for a library. */
export const silentLogger: Logger = pino({ level: "silent" });
