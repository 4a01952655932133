import { readFileSync } from "node:fs";
import { parse } from "dotenv";
import { describe, expect, it } from "vitest";
import { readConfig, settings } from "../src/config.ts";
import { ThreadkeeperError } from "../src/errors.ts";

function mistakes(file: Record<string, string>, env: Record<string, string> = {}): string {
  try {
    readConfig(file, env);
  } catch (error) {
    if (error instanceof ThreadkeeperError && error.code === "CONFIG_INVALID") return error.message;
    throw error;
  }
  return "";
}

describe("readConfig", () => {
  it("needs nothing: without a token there is no Discord, and the model is the demo model", () => {
    const config = readConfig({}, {});
    expect(config.discord).toBeUndefined();
    expect(config.model.setting).toBe("demo");
    expect(config.model.maxRuns).toBe(8);
    expect(config.deadlineMs).toBe(300_000);
    expect(config.catchUp).toEqual({ hours: 24, messages: 200 });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("reads what is set, and the environment wins over the file", () => {
    const config = readConfig(
      { DISCORD_TOKEN: "from-file", MODEL: "openai:gpt-5-mini", OPENAI_API_KEY: "sk-file" },
      { DISCORD_TOKEN: "from-env", ALLOWED_BOTS: "123456789012345678, 223456789012345678", MAX_RUNS: "3" },
    );
    expect(config.discord?.token).toBe("from-env");
    expect(config.model.maxRuns).toBe(3);
    expect(config.allowedBots).toEqual(["123456789012345678", "223456789012345678"]);
    expect(config.secrets).toEqual(["from-env", "sk-file"]);
  });

  it("takes a key of 32 bytes in hexadecimal digits or in base64, and nothing else", () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));
    for (const form of ["hex", "base64", "base64url"] as const) {
      const { sessionKey } = readConfig({ SESSION_KEY: bytes.toString(form) }, {});
      expect(Buffer.from(sessionKey as Uint8Array)).toEqual(bytes);
    }
    expect(readConfig({}, {}).sessionKey).toBeUndefined();
    for (const wrong of ["short", "0".repeat(63), "0".repeat(65), `${"A".repeat(42)}!`]) {
      expect(mistakes({ SESSION_KEY: wrong })).toContain("SESSION_KEY must be 32 random bytes");
      expect(mistakes({ SESSION_KEY: wrong })).not.toContain(wrong);
    }
  });

  it("counts keys and the password of the store among the secrets", () => {
    const [key, old] = ["1".repeat(64), "2".repeat(64)];
    const address = "postgres://me:pass%2Fword@host/bots";
    const { secrets } = readConfig({ SESSION_KEY: key, SESSION_KEY_OLD: old, SESSION_STORE: address }, {});
    expect(secrets).toEqual([key, old, "pass%2Fword", "pass/word"]);
    expect(readConfig({ SESSION_STORE: "redis://:100%@host" }, {}).secrets).toEqual(["100%"]);
  });

  it("takes an empty value for one that is not set", () => {
    expect(readConfig({ DISCORD_TOKEN: "", MODEL: " " }, { MAX_RUNS: "" }).model.maxRuns).toBe(8);
  });

  it("names every mistake at once, with what is allowed", () => {
    const message = mistakes({ DISCORD_TOKN: "x", MAX_RUNS: "many", LOG_LEVEL: "loud", MODEL_BASE_URL: "localhost" });
    expect(message).toContain("DISCORD_TOKN is not a setting; did you mean DISCORD_TOKEN?");
    expect(message).toContain("MAX_RUNS must be a whole number of runs from 1 to 1000");
    expect(message).toContain("LOG_LEVEL must be one of fatal, error, warn");
    expect(message).toContain("MODEL_BASE_URL must be an address that begins with http://");
  });

  it("lists the settings for a name that is like none of them, and finds one in lower case", () => {
    expect(mistakes({ COLOUR: "red" })).toContain("COLOUR is not a setting (there are: DISCORD_TOKEN,");
    expect(mistakes({ model: "demo" })).toContain("did you mean MODEL?");
  });

  it("never repeats a value, which could be a secret in the wrong line", () => {
    expect(mistakes({ MAX_RUNS: "sk-very-secret" })).not.toContain("very-secret");
  });

  it("does not mind other programs' variables in the environment", () => {
    expect(mistakes({}, { PATH: "/bin", COLOUR: "red" })).toBe("");
  });

  it("wants a token in production, and a model with a token; MODEL=demo is allowed", () => {
    expect(mistakes({}, { NODE_ENV: "production" })).toContain("DISCORD_TOKEN is missing");
    expect(mistakes({ DISCORD_TOKEN: "token" })).toContain("MODEL is missing");
    expect(mistakes({ DISCORD_TOKEN: "token", MODEL: "demo" }, { NODE_ENV: "production" })).toBe("");
  });

  it.each(["0", "1001", "-1", "1.5", "1e3", "0x10"])("refuses %s as a number of runs", (value) => {
    expect(mistakes({ MAX_RUNS: value })).toContain("MAX_RUNS must be");
  });
});

describe(".env.example", () => {
  const example = readFileSync(new URL("../.env.example", import.meta.url), "utf8");

  it("has every setting exactly once, and none that does not exist", () => {
    const names = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1]);
    expect(names.toSorted()).toEqual(Object.keys(settings.shape).toSorted());
  });

  it("is itself a valid .env", () => {
    expect(mistakes(parse(example))).toBe("");
  });

  it("shows the real defaults", () => {
    const defaults = [...example.matchAll(/^# ((?:MAX|RUN|LOG)_[A-Z_]+)=(\S+)$/gm)];
    expect(defaults.length).toBeGreaterThanOrEqual(5);
    const empty = settings.parse({});
    for (const [, name, value] of defaults) expect(String(empty[name as keyof typeof empty])).toBe(value);
  });
});
