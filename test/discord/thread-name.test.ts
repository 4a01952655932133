import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forkName, threadName } from "../../src/discord/thread-name.ts";

/** Something that a person can see, as opposed to spaces, joiners and fillers. */
const visible = /[\p{L}\p{N}\p{S}\p{P}]/u;

describe("a thread's name", () => {
  it("is the first line of the message", () => {
    expect(threadName("Plan the launch\n\nWe have until Friday.", "Ada")).toBe("Plan the launch");
  });

  it("is a greeting for a message that was only the mention", () => {
    expect(threadName("", "Ada")).toBe("Chat with Ada");
    expect(threadName(" \n\t ", "Ada")).toBe("Chat with Ada");
  });

  it("is cut between words when the first line has 300 characters", () => {
    const name = threadName("every word counts ".repeat(17), "Ada");
    expect(name).toMatch(/^(every|word|counts| )+…$/);
    expect(name.length).toBeLessThanOrEqual(100);
  });

  it("is cut within a word that has no end", () => {
    const name = threadName("x".repeat(300), "Ada");
    expect(name).toMatch(/^x+…$/);
  });

  it("does not cut an emoji in half", () => {
    for (let lead = 70; lead < 90; lead += 1) {
      expect(threadName(`${"x".repeat(lead)}${"🎉".repeat(30)}`, "Ada")).not.toMatch(/\p{Cs}/u);
    }
  });

  it("is a greeting when there is only markup", () => {
    expect(threadName("***\n```\n```\n||  ||", "Ada")).toBe("Chat with Ada");
  });

  it("may be an emoji, and takes a custom one's name", () => {
    expect(threadName("🎉", "Ada")).toBe("🎉");
    expect(threadName("👩‍👧", "Ada")).toBe("👩‍👧");
    expect(threadName("<:party_blob:123456789012345678>", "Ada")).toBe(":party_blob:");
  });

  it("leaves markup out and words whole", () => {
    expect(threadName("## **Fix** `load_config` in [the docs](https://example.org)", "Ada")).toBe(
      "Fix load_config in the docs",
    );
    expect(threadName("> - __quoted__", "Ada")).toBe("- quoted");
  });

  it("has a last resort when the author's name can't be seen either", () => {
    expect(threadName("\u3164", "\u200b")).toBe("Chat with");
  });

  it("always has 1 to 100 characters, one of which can be seen, in one line without ends to trim", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.string({ unit: "grapheme", maxLength: 400 }),
      fc
        .array(fc.constantFrom("*", "_", "`", "\n", " ", "\u200b", "\ud800", "🎉", "<:a:1>", "#", ">", "x"), {
          maxLength: 300,
        })
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(anything, anything, (text, author) => {
        const name = threadName(text, author);
        expect(name.length).toBeGreaterThanOrEqual(1);
        expect(name.length).toBeLessThanOrEqual(100);
        expect(name).toMatch(visible);
        expect(name).toBe(name.trim());
        expect(name).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the name of a fork", () => {
  it("is the other thread's, marked, and counted when it is one itself", () => {
    expect(forkName("Plans")).toBe("Plans (fork)");
    expect(forkName("Plans (fork)")).toBe("Plans (fork 2)");
    expect(forkName("Plans (fork 9)")).toBe("Plans (fork 10)");
    expect(forkName("(fork)")).toBe("(fork) (fork)");
  });

  it("has at most 100 characters and its mark, whatever the other's", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }), (name) => {
        const fork = forkName(name);
        expect(fork.length).toBeLessThanOrEqual(100);
        expect(fork).toMatch(/ \(fork(?: \d+)?\)$/);
        expect(fork).toMatch(/^\P{Cs}*$/u);
      }),
    );
  });
});
