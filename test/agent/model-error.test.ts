import { APICallError, NoSuchModelError, RetryError } from "ai";
import { describe, expect, it } from "vitest";
import { modelError, providerTextOf } from "../../src/agent/model-error.ts";
import { ThreadkeeperError } from "../../src/errors.ts";

const model = { provider: "acme", modelId: "m-1" };
const secret = "sk-very-secret-key and the members' words";

function refused(statusCode: number | undefined, body = "", cause?: unknown): APICallError {
  return new APICallError({
    message: secret,
    url: "https://user:pass@api.acme.test/v1/chat?key=abc",
    requestBodyValues: { messages: secret },
    ...(statusCode !== undefined && { statusCode }),
    responseBody: body,
    cause,
  });
}

function coded(code: string, cause?: unknown): Error {
  return Object.assign(new Error("connect failed", { cause }), { code });
}

describe("an error of the model", () => {
  it.each([
    ["401", refused(401), "MODEL_KEY_REFUSED"],
    ["403", refused(403), "MODEL_KEY_REFUSED"],
    ["400 with a word about the key", refused(400, "API key not valid. Invalid API key."), "MODEL_KEY_REFUSED"],
    ["404", refused(404), "MODEL_NOT_FOUND"],
    ["no such model", new NoSuchModelError({ modelId: "x", modelType: "languageModel" }), "MODEL_NOT_FOUND"],
    ["429", refused(429), "MODEL_RATE_LIMITED"],
    ["no credit", refused(400, "Your credit balance is too low to access the API."), "MODEL_RATE_LIMITED"],
    ["529", refused(529), "MODEL_RATE_LIMITED"],
    ["overloaded in the stream", { type: "error", error: { type: "overloaded_error" } }, "MODEL_RATE_LIMITED"],
    ["413", refused(413), "MODEL_INPUT_TOO_LONG"],
    ["OpenAI's context length", refused(400, '{"code":"context_length_exceeded"}'), "MODEL_INPUT_TOO_LONG"],
    ["Anthropic's", refused(400, "prompt is too long: 250000 tokens > 200000 maximum"), "MODEL_INPUT_TOO_LONG"],
    ["Google's", refused(400, "input token count exceeds the maximum number of tokens"), "MODEL_INPUT_TOO_LONG"],
    ["no connection", refused(undefined, "", coded("ECONNREFUSED")), "MODEL_UNREACHABLE"],
    [
      "no such host, deep inside",
      refused(undefined, "", new Error("x", { cause: coded("ENOTFOUND") })),
      "MODEL_UNREACHABLE",
    ],
    ["no answer and no code", refused(undefined), "MODEL_UNREACHABLE"],
    ["a socket that broke", new TypeError("terminated", { cause: coded("UND_ERR_SOCKET") }), "MODEL_UNREACHABLE"],
    ["500", refused(500), "MODEL_FAILED"],
    ["an error with a status in the stream", { status: 503, message: "x" }, "MODEL_FAILED"],
    ["a plain error", new Error("oops"), "MODEL_FAILED"],
    ["a text", "oops", "MODEL_FAILED"],
    ["nothing", null, "MODEL_FAILED"],
    ["a code that is no status", { code: 7 }, "MODEL_FAILED"],
  ])("%s", (_what, error, code) => {
    expect(modelError(error, model)).toMatchObject({ code, fields: { model: "acme:m-1" }, cause: error });
  });

  it("the last of several attempts counts", () => {
    const last = refused(429);
    const error = new RetryError({ message: "gave up", reason: "maxRetriesExceeded", errors: [refused(500), last] });
    expect(modelError(error, model)).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      fields: { status: 429 },
      cause: last,
    });
  });

  it("says where it could not go, without what stands before and behind the host", () => {
    expect(modelError(refused(undefined, "", coded("ENOTFOUND")), model)).toMatchObject({
      message: "the server of acme:m-1 at https://api.acme.test cannot be reached (ENOTFOUND): is it running?",
      fields: { network: "ENOTFOUND" },
    });
    const odd = new APICallError({ message: "x", url: "no address", requestBodyValues: {} });
    expect(modelError(odd, model).message).toContain("at its address cannot be reached (no answer)");
  });

  it("has a message that holds nothing of the provider's text", () => {
    for (const status of [401, 404, 413, 429, 500, undefined]) {
      expect(modelError(refused(status, secret), model).message).not.toMatch(/secret|members|pass|abc/);
    }
  });

  it("has nothing of the provider's text in its fields, which are logged with it", () => {
    for (const status of [400, 401, 403, 500, undefined]) {
      expect(JSON.stringify(modelError(refused(status, secret), model).fields)).not.toMatch(/secret|members|pass|abc/);
    }
  });

  it("what the provider said of a refused request is given out apart, cut, but nothing about a key", () => {
    const long = new APICallError({ message: "m".repeat(900), url: "x", requestBodyValues: {}, statusCode: 400 });
    const last = new RetryError({ message: "gave up", reason: "maxRetriesExceeded", errors: [refused(500), long] });
    expect(providerTextOf(long)).toBe("m".repeat(300));
    expect(providerTextOf(last)).toBe("m".repeat(300));
    for (const status of [401, 403, undefined]) expect(providerTextOf(refused(status, secret))).toBeUndefined();
    expect(providerTextOf(new Error(secret))).toBeUndefined();
  });

  it("that is ours already stays as it is", () => {
    const own = new ThreadkeeperError("RUN_STOPPED", "stopped");
    expect(modelError(own, model)).toBe(own);
  });
});
