import type { LanguageModelV3 } from "@ai-sdk/provider";
import { APICallError, NoSuchModelError, RetryError, ToolChoiceViolationError } from "ai";
import { type ErrorCode, type ErrorFields, ThreadkeeperError } from "../errors.ts";

const tooLong =
  /context[_ ]length|context window|prompt is too long|maximum (?:context|number of tokens)|too many (?:input )?tokens|input (?:is|was) too long|exceeds? the .*token/i;
const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** How much of what a provider says of its refusal is given out. */
const providerTextLength = 300;

/** Whatever a model call threw, as one of ours. Message and fields are made here; what others said is only in `cause`. */
export function modelError(
  error: unknown,
  { provider, modelId }: Pick<LanguageModelV3, "provider" | "modelId">,
): ThreadkeeperError {
  if (error instanceof ThreadkeeperError) return error;
  // Tools are forbidden to a model only in the last step that it may take.
  if (ToolChoiceViolationError.isInstance(error)) return stepLimitError();
  const { cause, call } = unpack(error);
  const status = call?.statusCode ?? statusIn(cause);
  const text = [cause, call?.responseBody].map(textOf).join(" ");
  const network = networkCode(cause);
  const model = `${provider}:${modelId}`;
  const make = (code: ErrorCode, message: string, more: ErrorFields = {}) =>
    new ThreadkeeperError(code, message, { cause, fields: { model, status, ...more } });

  if (status === 401 || status === 403 || /invalid.{0,20}api key|incorrect api key/i.test(text)) {
    return make("MODEL_KEY_REFUSED", `the provider of ${model} refused the key (${status ?? "no status"}): check it`);
  }
  if (status === 413 || tooLong.test(text)) {
    return make("MODEL_INPUT_TOO_LONG", `the conversation is too long for ${model}`);
  }
  if (status === 404 || NoSuchModelError.isInstance(cause)) {
    return make("MODEL_NOT_FOUND", `there is no model ${model} at its provider: check the name in MODEL`);
  }
  if (
    status === 429 ||
    status === 529 ||
    /rate.?limit|overloaded|insufficient_quota|credit balance|billing/i.test(text)
  ) {
    return make(
      "MODEL_RATE_LIMITED",
      `the provider of ${model} takes no more requests for now (${status ?? "limit"}): a rate limit, or the account's credit`,
    );
  }
  if (network || (call && status === undefined)) {
    const where = call ? ` at ${originOf(call.url)}` : "";
    const message = `the server of ${model}${where} cannot be reached (${network ?? "no answer"}): is it running?`;
    return make("MODEL_UNREACHABLE", message, { network });
  }
  const name = cause instanceof Error ? cause.name : typeof cause;
  return make("MODEL_FAILED", `the call of ${model} failed (${status ?? name})`);
}

/** What a provider said of a request that it refused. Not of one with a wrong key, since it might quote the key. */
export function providerTextOf(error: unknown): string | undefined {
  const { call } = unpack(error);
  const status = call?.statusCode;
  if (status === undefined || status === 401 || status === 403) return undefined;
  return call?.message.slice(0, providerTextLength);
}

export function stepLimitError(): ThreadkeeperError {
  return new ThreadkeeperError("STEP_LIMIT", "the model came to no answer within the steps that it may take");
}

/** The error that counts, of several attempts the last one's; `call`: the same, if it is the provider's. */
function unpack(error: unknown): { readonly cause: unknown; readonly call: APICallError | undefined } {
  const cause = RetryError.isInstance(error) ? error.lastError : error;
  return { cause, call: APICallError.isInstance(cause) ? cause : undefined };
}

/** Errors inside of a stream are the provider's own plain objects. */
function statusIn(error: unknown): number | undefined {
  const value = Reflect.get(Object(error), "status") ?? Reflect.get(Object(error), "code");
  return typeof value === "number" && value >= 400 && value < 600 ? value : undefined;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  if (typeof value === "string") return value;
  return value === undefined ? "" : (JSON.stringify(value) ?? "");
}

function networkCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; current = current.cause, depth += 1) {
    const code: unknown = Reflect.get(current, "code");
    if (typeof code === "string" && networkCodes.has(code)) return code;
  }
  return undefined;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}
