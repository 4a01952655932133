import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger, redact, silentLogger } from "../src/log.ts";

function logged(secrets: string[], write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = "";
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createLogger({ level: "info", secrets, destination }));
  return text;
}

describe("createLogger", () => {
  it("writes one JSON object a line", () => {
    const line = logged([], (log) => log.info({ threads: 2 }, "ready"));
    expect(JSON.parse(line)).toMatchObject({ threads: 2, msg: "ready" });
  });

  it("leaves configured secrets out, wherever they stand", () => {
    const text = logged(["my-own-password"], (log) => {
      log.error({ err: new Error("server said my-own-password") }, "failed with my-own-password");
    });
    expect(text).not.toContain("my-own-password");
    expect(text).toContain("[secret]");
  });

  it("leaves out what looks like a key, though nobody named it", () => {
    const text = logged([], (log) => log.error("Incorrect API key provided: sk-proj-abcdefghijklmnop1234"));
    expect(text).not.toContain("abcdefghijklmnop");
  });

  it("leaves a secret out also in the form that JSON gives it", () => {
    expect(logged(['pass"word\\here'], (log) => log.info('it is pass"word\\here'))).toContain("it is [secret]");
  });

  it("knows of an error what happened, and not what somebody wrote", () => {
    const request = { json: { content: "what Ada wrote" }, files: [] };
    const cause = Object.assign(new TypeError("socket closed"), { requestBodyValues: "the whole conversation" });
    const error = Object.assign(new Error("Missing Permissions", { cause }), {
      code: 50013,
      status: 403,
      method: "PATCH",
      url: `https://discord.com/api/v10/webhooks/123456789012345678/${"aW50".repeat(20)}/messages/@original`,
      requestBody: request,
      rawError: { message: "Missing Permissions" },
    });
    const text = logged([], (log) => log.warn({ err: error }, "drawing failed"));
    expect(JSON.parse(text).err).toMatchObject({
      type: "Error",
      message: "Missing Permissions",
      code: 50013,
      status: 403,
      cause: { type: "TypeError", message: "socket closed" },
    });
    expect(text).not.toMatch(/what Ada wrote|whole conversation|aW50/);
  });

  it("takes what was thrown without being an error, and a cause that is its own", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(JSON.parse(logged([], (log) => log.error({ err: "thrown text" }))).err).toEqual({ message: "thrown text" });
    expect(JSON.parse(logged([], (log) => log.error({ err: loop }))).err.cause.message).toBe("loop");
  });

  it("says nothing when silent", () => {
    expect(silentLogger.isLevelEnabled("fatal")).toBe(false);
  });
});

describe("redact", () => {
  it("knows headers and bot tokens", () => {
    const token = `${"M".repeat(24)}.Gabcde.${"x".repeat(38)}`;
    expect(redact(`authorization: Bearer abcdefghijkl.mnop, ${token}`)).toBe(
      "authorization: Bearer [secret], [secret]",
    );
  });

  it("knows the tokens in the addresses of interactions", () => {
    const token = "aW50ZXJhY3Rpb24".repeat(6);
    expect(redact(`POST /interactions/12345/${token}/callback`)).toBe("POST /interactions/12345/[secret]/callback");
    expect(redact(`/webhooks/12345/${token}`)).toBe("/webhooks/12345/[secret]");
  });

  it("leaves ordinary text alone, and too short secrets unused", () => {
    for (const text of ["a plain sentence about sk and tasks", "the Bot started", "webhooks/12345 is gone"]) {
      expect(redact(text, ["a"])).toBe(text);
    }
  });
});
