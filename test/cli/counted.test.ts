import { expect, it } from "vitest";
import { counted } from "../../src/cli/counted.ts";

it("says one of a thing, and several", () => {
  expect([0, 1, 2].map((count) => counted(count, "session"))).toEqual(["0 sessions", "1 session", "2 sessions"]);
});
