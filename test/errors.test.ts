import { describe, expect, it } from "vitest";
import { hasCode, StaleSessionError, ThreadkeeperError, toThreadkeeperError } from "../src/errors.ts";

describe("errors", () => {
  it("carry a stable code, fields and the cause", () => {
    const cause = new Error("disk");
    const error = new ThreadkeeperError("STORE_FULL", "the disk is full", { fields: { store: "x" }, cause });
    expect(error).toMatchObject({ code: "STORE_FULL", fields: { store: "x" }, cause, message: "the disk is full" });
    expect(new ThreadkeeperError("STORE_FULL", "x")).not.toHaveProperty("cause");
  });

  it("are told apart by code", () => {
    const error = new StaleSessionError("a", "it was reset");
    expect(hasCode(error, "RUN_LOST", "SESSION_STALE")).toBe(true);
    expect(hasCode(error, "RUN_LOST")).toBe(false);
    expect(hasCode(new Error("SESSION_STALE"), "SESSION_STALE")).toBe(false);
  });

  it("make one of ours of whatever was thrown", () => {
    const ours = new StaleSessionError("a", "x");
    expect(toThreadkeeperError(ours)).toBe(ours);
    expect(toThreadkeeperError(new TypeError("bad"))).toMatchObject({ code: "UNEXPECTED", message: "bad" });
    expect(toThreadkeeperError("plain")).toMatchObject({ code: "UNEXPECTED", message: "plain" });
  });
});
