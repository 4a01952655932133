import { afterEach, beforeEach, expect } from "vitest";

/** What would have ended the process; a test in whose file this is called fails if there was anything. */
export function expectNothingUncaught(): void {
  let uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  beforeEach(() => {
    uncaught = [];
    process.on("uncaughtException", note);
    process.on("unhandledRejection", note);
  });
  afterEach(() => {
    process.off("uncaughtException", note);
    process.off("unhandledRejection", note);
    expect(uncaught).toEqual([]);
  });
}
