import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { ThreadkeeperError } from "../errors.ts";
import { demoModel } from "./demo-model.ts";
import { limitCalls } from "./limit-calls.ts";

type KeyName = "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GOOGLE_GENERATIVE_AI_API_KEY" | "MODEL_API_KEY";

export interface ModelOptions {
  /** By the names of their settings. The environment is not read. */
  readonly keys?: Readonly<Partial<Record<KeyName, string | undefined>>>;
  /** Where the provider is, if not at its usual address; needed for `openai-compatible`. */
  readonly baseUrl?: string | undefined;
  /** Calls under way at a time, at most. Default: any number. */
  readonly maxRuns?: number;
}

interface Provider {
  /** The key that it needs, or (`optional`) takes. */
  readonly key: KeyName;
  readonly optional?: true;
  /** Its usual address. Given, so that no variable of the environment is looked for. */
  readonly baseUrl?: string;
  /** A name for examples. */
  readonly example: string;
  make(settings: { name: string; apiKey?: string; baseURL: string }): LanguageModelV3;
}

const providers: Readonly<Record<string, Provider>> = {
  openai: {
    key: "OPENAI_API_KEY",
    baseUrl: "https://api.openai.com/v1",
    example: "gpt-5-mini",
    make: ({ name, ...settings }) => createOpenAI(settings)(name),
  },
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    baseUrl: "https://api.anthropic.com/v1",
    example: "claude-sonnet-4-5",
    make: ({ name, ...settings }) => createAnthropic(settings)(name),
  },
  google: {
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    example: "gemini-2.5-flash",
    make: ({ name, ...settings }) => createGoogleGenerativeAI(settings)(name),
  },
  ollama: {
    key: "MODEL_API_KEY",
    optional: true,
    baseUrl: "http://127.0.0.1:11434/v1",
    example: "llama3.2:3b",
    make: ({ name, ...settings }) => createOpenAICompatible({ name: "ollama", includeUsage: true, ...settings })(name),
  },
  "openai-compatible": {
    key: "MODEL_API_KEY",
    optional: true,
    example: "meta-llama/llama-3.3-70b-instruct",
    make: ({ name, ...settings }) =>
      createOpenAICompatible({ name: "openai-compatible", includeUsage: true, ...settings })(name),
  },
};

/**
 * The AI SDK's model for a setting: `provider:name` (parted at the first colon), or `demo`.
 * @throws ThreadkeeperError `MODEL_SETTING_INVALID` or `MODEL_KEY_MISSING`, each with the setting to change
 */
export function resolveModel(setting: string, { keys = {}, baseUrl, maxRuns }: ModelOptions = {}): LanguageModelV3 {
  const model = setting === "demo" ? demoModel() : fromProvider(setting, keys, baseUrl);
  return maxRuns === undefined ? model : limitCalls(model, maxRuns);
}

function fromProvider(
  setting: string,
  keys: NonNullable<ModelOptions["keys"]>,
  baseUrl: string | undefined,
): LanguageModelV3 {
  const colon = setting.indexOf(":");
  const kind = colon === -1 ? setting : setting.slice(0, colon);
  const name = colon === -1 ? "" : setting.slice(colon + 1).trim();
  const provider = Object.hasOwn(providers, kind) ? providers[kind] : undefined;
  if (!provider) {
    const known = [...Object.keys(providers).map((each) => `${each}:…`), "demo"].join(", ");
    throw settingInvalid(`MODEL has no known provider in ${JSON.stringify(setting)}; there are ${known}`);
  }
  if (name === "") {
    throw settingInvalid(`MODEL names no model of ${kind}; write it as in ${kind}:${provider.example}`);
  }
  const apiKey = keys[provider.key];
  if (!apiKey && !provider.optional) {
    throw new ThreadkeeperError("MODEL_KEY_MISSING", `${provider.key} is missing; MODEL=${kind}:… needs it`, {
      fields: { setting: provider.key },
    });
  }
  const baseURL = baseUrl ?? provider.baseUrl;
  if (baseURL === undefined) {
    throw settingInvalid(`MODEL_BASE_URL is missing; MODEL=${kind}:… needs the address of the server's API`);
  }
  return provider.make({ name, baseURL, ...(apiKey && { apiKey }) });
}

function settingInvalid(message: string): ThreadkeeperError {
  return new ThreadkeeperError("MODEL_SETTING_INVALID", message);
}
