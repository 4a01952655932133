import { describe, expect, it } from "vitest";
import { Reminders } from "../../../src/session/ownership/reminders.ts";

describe("What is seen again and again", () => {
  it("is told of at once, and then ever more rarely, but never for good", () => {
    const reminders = new Reminders();
    const told = Array.from({ length: 400 }, (_, look) => (reminders.due(["s"]).length > 0 ? look : -1));
    expect(told.filter((look) => look >= 0)).toEqual([0, 2, 5, 10, 19, 36, 69, 134, 199, 264, 329, 394]);
  });

  it("counts as new when it had gone, and does not hold up what is", () => {
    const reminders = new Reminders();
    expect(reminders.due(["a"])).toEqual(["a"]);
    expect(reminders.due(["a", "b"])).toEqual(["b"]);
    expect(reminders.due(["b"])).toEqual([]);
    expect(reminders.due(["a", "b"])).toEqual(["a", "b"]);
    expect(reminders.due(["a", "b"])).toEqual([]);
    reminders.forget();
    expect(reminders.due(["a", "b"])).toEqual(["a", "b"]);
  });
});
