import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

/** Long runs of key-like characters, and what stands behind "Bearer" and "Bot": never worth reading in a log. */
const secretLike =
  /\b(?:sk|pk|rk|xai|gsk|AIza)[-_A-Za-z0-9]{12,}|\b(Bearer|Bot)\s+[^\s"']+|\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}/g;

/** Takes secrets out of a text: the ones given (tokens and keys that were configured) and what looks like one. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 6) clean = clean.replaceAll(secret, "[secret]");
  return clean.replace(secretLike, (_match, scheme: string | undefined) =>
    scheme ? `${scheme} [secret]` : "[secret]",
  );
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
    hooks: { streamWrite: (line: string) => redact(line, secrets) },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Says nothing: the default for a library. */
export const silentLogger: Logger = pino({ level: "silent" });
