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

  it("says nothing when silent", () => {
    expect(silentLogger.isLevelEnabled("fatal")).toBe(false);
  });
});

describe("redact", () => {
  it("knows headers and bot tokens", () => {
    const token = `${"M".repeat(24)}.Gabcde.${"x".repeat(38)}`;
    expect(redact(`authorization: Bearer abc.def, ${token}`)).toBe("authorization: Bearer [secret] [secret]");
  });

  it("leaves ordinary text alone, and too short secrets unused", () => {
    expect(redact("a plain sentence about sk and tasks", ["a"])).toBe("a plain sentence about sk and tasks");
  });
});
