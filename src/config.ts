import leven from "leven";
import { z } from "zod";
import { ThreadkeeperError } from "./errors.ts";

const text = z.string().trim().min(1);
const secret = text.regex(/^\S+$/, "must not contain spaces");
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" });

/** A whole number in a setting, as text; `unit` is for the message. */
function whole(unit: string, lowest: number, highest: number, fallback: number) {
  const allowed = `must be a whole number of ${unit} from ${lowest} to ${highest}`;
  return text
    .regex(/^\d{1,9}$/, allowed)
    .transform(Number)
    .refine((value) => value >= lowest && value <= highest, allowed)
    .default(fallback);
}

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(", ")}` });
}

/** 32 random bytes; which letters they are written with shows what is meant. */
const sessionKey = text
  .refine(
    (value) => /^(?:[0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i.test(value),
    "must be 32 random bytes, as 64 hexadecimal digits or as base64: openssl rand -hex 32 makes some",
  )
  .transform((value): Uint8Array => Buffer.from(value, value.length === 64 ? "hex" : "base64"))
  .optional();

const snowflakes = text
  .transform((list) => list.split(/[\s,]+/).filter(Boolean))
  .refine((ids) => ids.every((id) => /^\d{15,22}$/.test(id)), "must be user ids (digits), separated by commas")
  .default([]);

/** Every variable there is. `.env.example` explains each; a test holds the two together. */
export const settings = z.object({
  DISCORD_TOKEN: secret.optional(),
  DISCORD_API_URL: httpUrl.optional(),
  MODEL: text.optional(),
  OPENAI_API_KEY: secret.optional(),
  ANTHROPIC_API_KEY: secret.optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: secret.optional(),
  MODEL_BASE_URL: httpUrl.optional(),
  MODEL_API_KEY: secret.optional(),
  INSTRUCTIONS: text.max(20_000, "must be at most 20,000 characters").optional(),
  SESSION_STORE: text.optional(),
  SESSION_KEY: sessionKey,
  SESSION_KEY_OLD: sessionKey,
  MAX_RUNS: whole("runs", 1, 1000, 8),
  MAX_OUTPUT_TOKENS: whole("tokens", 16, 200_000, 4096),
  MAX_STEPS: whole("steps", 1, 100, 12),
  WINDOW_TOKENS: whole("tokens", 1000, 1_000_000, 32_000),
  RUN_DEADLINE_SECONDS: whole("seconds", 5, 3600, 300),
  TAKE_OVER_SECONDS: whole("seconds", 2, 600, 20),
  CATCH_UP_HOURS: whole("hours", 0, 720, 24),
  CATCH_UP_MESSAGES: whole("messages", 1, 10_000, 200),
  ALLOWED_BOTS: snowflakes,
  LOG_LEVEL: oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  LOG_FORMAT: oneOf(["auto", "pretty", "json"]).default("auto"),
  NODE_ENV: text.optional(),
});

type Settings = z.output<typeof settings>;
type Variables = Readonly<Record<string, string | undefined>>;

/** What the bot runs with. `discord` is absent when there is no token: then the sandbox is used. */
export interface Config {
  readonly discord: { readonly token: string; readonly api: string | undefined } | undefined;
  readonly model: {
    /** `provider:name`, or `demo`. */
    readonly setting: string;
    readonly keys: Readonly<Record<string, string | undefined>>;
    readonly baseUrl: string | undefined;
    readonly maxOutputTokens: number;
    /** Model calls at a time, over all threads. */
    readonly maxRuns: number;
  };
  readonly instructions: string | undefined;
  /** Absent: the default place, which the sandbox and the real bot don't share. */
  readonly sessionStore: string | undefined;
  /** Encrypts sessions at rest, 32 bytes; absent: they are not. */
  readonly sessionKey: Uint8Array | undefined;
  /** The key before, for `threadkeeper rekey` alone. */
  readonly oldSessionKey: Uint8Array | undefined;
  readonly maxSteps: number;
  readonly windowTokens: number;
  readonly deadlineMs: number;
  /** After how long without a sign of life another process goes on with what this one began. */
  readonly takeOverMs: number;
  /** What is heard of the time in which the bot was not there: how old and how many messages. 0 hours: nothing. */
  readonly catchUp: { readonly hours: number; readonly messages: number };
  readonly allowedBots: readonly string[];
  readonly log: { readonly level: Settings["LOG_LEVEL"]; readonly format: Settings["LOG_FORMAT"] };
  /** Tokens and keys, so that the log can leave them out. */
  readonly secrets: readonly string[];
}

/**
 * Reads every setting once. `file` is the parsed `.env`, where an unknown name is an error (a typing mistake there
 * would otherwise be silently without effect); `env` is the process's environment, which wins.
 * @throws ThreadkeeperError `CONFIG_INVALID` that names all mistakes at once, with what is allowed
 */
export function readConfig(file: Variables, env: Variables): Config {
  const known = Object.keys(settings.shape);
  const given: Record<string, string> = {};
  for (const name of known) {
    const value = env[name]?.trim() || file[name]?.trim();
    if (value) given[name] = value;
  }
  const mistakes = Object.keys(file)
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is not a setting${suggestion(name, known)}`);
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    // The value itself is not repeated: it may be a secret in the wrong line.
    mistakes.push(...parsed.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`));
  }
  if (given["NODE_ENV"] === "production" && !given["DISCORD_TOKEN"]) {
    mistakes.push("DISCORD_TOKEN is missing, and with NODE_ENV=production there is no sandbox to start instead");
  }
  if (given["DISCORD_TOKEN"] && !given["MODEL"]) {
    mistakes.push(
      "MODEL is missing: set provider:name, such as openai:gpt-5-mini, or demo for the built-in demo model",
    );
  }
  if (!parsed.success || mistakes.length > 0) {
    throw new ThreadkeeperError("CONFIG_INVALID", `the settings have mistakes:\n  - ${mistakes.join("\n  - ")}`, {
      fields: { mistakes },
    });
  }
  return toConfig(parsed.data, [given["SESSION_KEY"], given["SESSION_KEY_OLD"], ...passwordIn(given["SESSION_STORE"])]);
}

/** The password in an address, as it stands there and as it is meant. */
function passwordIn(address = ""): string[] {
  const password = /\/\/[^/@]*?:(.*)@/.exec(address)?.[1] ?? "";
  try {
    return [password, decodeURIComponent(password)].filter(Boolean);
  } catch {
    return [password];
  }
}

function toConfig(values: Settings, storeSecrets: readonly (string | undefined)[]): Config {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, MODEL_API_KEY } = values;
  const keys = { OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, MODEL_API_KEY };
  const secrets = [values.DISCORD_TOKEN, ...Object.values(keys), ...storeSecrets].filter(
    (value) => value !== undefined,
  );
  return Object.freeze({
    discord: values.DISCORD_TOKEN ? { token: values.DISCORD_TOKEN, api: values.DISCORD_API_URL } : undefined,
    model: {
      setting: values.MODEL ?? "demo",
      keys,
      baseUrl: values.MODEL_BASE_URL,
      maxOutputTokens: values.MAX_OUTPUT_TOKENS,
      maxRuns: values.MAX_RUNS,
    },
    instructions: values.INSTRUCTIONS,
    sessionStore: values.SESSION_STORE,
    sessionKey: values.SESSION_KEY,
    oldSessionKey: values.SESSION_KEY_OLD,
    maxSteps: values.MAX_STEPS,
    windowTokens: values.WINDOW_TOKENS,
    deadlineMs: values.RUN_DEADLINE_SECONDS * 1000,
    takeOverMs: values.TAKE_OVER_SECONDS * 1000,
    catchUp: { hours: values.CATCH_UP_HOURS, messages: values.CATCH_UP_MESSAGES },
    allowedBots: values.ALLOWED_BOTS,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    secrets,
  });
}

/** The known name that an unknown one was probably meant to be: at most two edits away. */
function suggestion(name: string, known: readonly string[]): string {
  const upper = name.toUpperCase();
  const nearest =
    known.find((candidate) => candidate === upper) ?? known.find((candidate) => leven(upper, candidate) <= 2);
  return nearest ? `; did you mean ${nearest}?` : ` (there are: ${known.join(", ")})`;
}
