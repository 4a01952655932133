import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { NoticeReason } from "../../src/conversation/turn-event.ts";
import { type ErrorCode, ThreadkeeperError } from "../../src/errors.ts";
import {
  errorWording,
  forkedWording,
  forkFailedWording,
  helpWording,
  noticeWording,
  summarisedWording,
  toolWording,
} from "../../src/reply/wording.ts";

const source = readFileSync(new URL("../../src/errors.ts", import.meta.url), "utf8");
const codes = Array.from(source.matchAll(/^ {2}\| "([A-Z_]+)"/gm), ([, code]) => code as ErrorCode);
const notice = (reason: NoticeReason) => noticeWording({ type: "notice", replyTo: null, ...reason });

describe("the wording", () => {
  test("every error has a sentence for members, without its own message", () => {
    expect(codes.length).toBeGreaterThan(30);
    for (const code of codes) {
      const sentence = errorWording(new ThreadkeeperError(code, "sk-secret in /data/sessions.sqlite"), "abc123");
      expect(sentence).toMatch(/^(?:-# )?[A-Z].*[.)]$/);
      expect(sentence).not.toMatch(/secret|sqlite|undefined/);
      expect(sentence.length).toBeLessThan(300);
      expect(sentence).not.toContain(code);
    }
  });

  test("a reference is given where the log says more", () => {
    expect(errorWording(new ThreadkeeperError("MODEL_FAILED", "x"), "abc123")).toMatch(/\(Reference: `abc123`\)$/);
    expect(errorWording(new ThreadkeeperError("MODEL_FAILED", "x"))).not.toMatch(/Reference/);
    expect(errorWording(new ThreadkeeperError("RUN_STOPPED", "x"), "abc123")).not.toMatch(/Reference/);
  });

  test("a code of another version is something that went wrong", () => {
    const error = new ThreadkeeperError("FROM_THE_FUTURE" as ErrorCode, "x");
    expect(errorWording(error, "abc123")).toBe(
      "Something went wrong on my side. Please try again. (Reference: `abc123`)",
    );
  });

  test("a conversation that grew long is known from a summary, or only lately", () => {
    expect(summarisedWording("summary")).toMatch(/^-# .* from a summary\.$/);
    expect(summarisedWording("nothing")).toMatch(/^-# .* could not summarise .* only what was said lately\.$/);
  });

  test("a missing permission is named", () => {
    const missing = (permissions?: string[]) =>
      errorWording(new ThreadkeeperError("DISCORD_PERMISSION_MISSING", "x", { fields: { permissions } }));
    expect(missing(["Send Messages"])).toMatch(/I lack a permission .*\*\*Send Messages\*\*\./);
    expect(missing(["A", "B", "C"])).toMatch(/I lack permissions .*\*\*A\*\*, \*\*B\*\* and \*\*C\*\*\./);
    expect(missing([])).toMatch(/does not name/);
    expect(missing()).toMatch(/does not name/);
  });

  test("every notice has a sentence", () => {
    const error = new ThreadkeeperError("STORE_BUSY", "x");
    expect(notice({ reason: "forgotten" })).toMatch(/Forgotten/);
    expect(notice({ reason: "nothing-to-forget" })).toMatch(/nothing to forget/);
    expect(notice({ reason: "stopped" })).toMatch(/Stopped/);
    expect(notice({ reason: "interrupted" })).toMatch(/gave up an answer.*since then, I answer it now/);
    expect(notice({ reason: "nothing-to-stop" })).toMatch(/nothing to stop/);
    expect(notice({ reason: "not-allowed", what: "reset" })).toMatch(/opened this thread/);
    expect(notice({ reason: "not-allowed", what: "stop" })).toMatch(/who asked/);
    expect(notice({ reason: "not-allowed", what: "undo" })).toMatch(/opened this thread.*take an answer back/);
    expect(notice({ reason: "not-allowed", what: "fork" })).toMatch(/opened this thread.*another one/);
    expect(notice({ reason: "undone", inputs: ["1"] })).toMatch(/Undone/);
    expect(notice({ reason: "nothing-to-undo" })).toMatch(/nothing to undo/);
    expect(notice({ reason: "forked", to: null })).toMatch(/begins with what I remember/);
    expect(notice({ reason: "nothing-to-fork" })).toMatch(/nothing to carry over/);
    expect(notice({ reason: "nothing-said" })).toMatch(/said nothing/);
    expect(notice({ reason: "queue-full", limit: 50 })).toMatch(/^50 messages/);
    expect(notice({ reason: "failed", error, reference: "abc123" })).toMatch(/memory.*abc123/);
  });

  test("nothing that the bot itself says holds a link: its messages go without the flag against previews", () => {
    const fields = { permissions: ["Send Messages"], limit: 50 };
    const errors = codes.map((code) => errorWording(new ThreadkeeperError(code, "x", { fields }), "abc123"));
    const notices = [
      ...(["forgotten", "nothing-to-forget", "stopped", "interrupted", "nothing-to-stop", "nothing-said"] as const),
      ...(["nothing-to-undo", "nothing-to-fork"] as const),
    ].map((reason) => notice({ reason }));
    const forked = forkedWording({ by: "<@1>", from: "<#2>" });
    for (const said of [...errors, ...notices, forked, forkFailedWording]) expect(said).not.toMatch(/https?:/);
  });

  test("a server with too many threads is told so, and where it is answered in place, that too", () => {
    const tooMany = (fields: Record<string, boolean>) =>
      errorWording(new ThreadkeeperError("DISCORD_TOO_MANY_THREADS", "x", { fields }));
    expect(tooMany({ answeredHere: true })).toMatch(/I answer here; archive some threads/);
    expect(tooMany({})).toMatch(/could not open one\. Archive some threads/);
  });

  test("the help names the bot, its commands, and the model if that is to be told", () => {
    const commands = [{ name: "stop", description: "Stop the answer" }];
    const help = helpWording({ mention: "<@1>", commands, modelName: undefined });
    expect(help).toContain("Mention me (<@1>)");
    expect(help).toContain("- `/stop`: Stop the answer");
    expect(helpWording({ mention: "<@1>", commands, modelName: "demo" })).toBe(
      `${help}\n\nThe answers are written by demo. They can be wrong.`,
    );
  });

  test("a tool is named as code, so that its name can't be read as markup", () => {
    expect(toolWording("__init__")).toBe("-# Using `__init__` …");
  });
});
