import { parse } from "discord-markdown-parser";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeText } from "../../src/reply/safe-text.ts";

/** Whether Discord would show a link behind other words than its target, as a parser with Discord's rules reads it. */
function hidesLink(message: string): boolean {
  const inside = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(inside);
    if (typeof node !== "object" || node === null) return false;
    // "[]()" and "[]([)" lead nowhere: what leads somewhere has a scheme.
    const leads = "type" in node && node.type === "link" && "target" in node && String(node.target).includes(":");
    return leads || Object.values(node).some(inside);
  };
  return inside(parse(message, "extended"));
}

const markup = fc.constantFrom(
  ..."[ ] ( ) ` `` ``` *** ** * __ _ ~~ || > < \\ ! # - 1. : \" '".split(" "),
  "\n",
  "\n",
  " ",
  "- ",
  "> ",
  "```js\n",
  "\n```",
  "](https://evil.example/q)",
  "[x](https://evil.example/q)",
  "[a `b` c](<https://evil.example> 'title')",
  "https://ok.example",
  "words",
);
const message = fc.array(markup, { maxLength: 40 }).map((parts) => parts.join(""));

describe("safeText", () => {
  test("shows where every masked link leads", () => {
    expect(safeText("See [the guide](https://example.com/a_(b)?q=1#c), then go.")).toBe(
      "See the guide <https://example.com/a_(b)?q=1#c>, then go.",
    );
    expect(safeText("[`code` and [brackets]](<https://example.com>)")).toBe(
      "`code` and [brackets] <https://example.com>",
    );
    expect(safeText('[docs](https://example.com "The docs")')).toBe("docs The docs <https://example.com>");
    expect(safeText("![a cat](https://example.com/cat.png)")).toBe("a cat <https://example.com/cat.png>");
    expect(safeText("[ ](https://example.com)")).toBe("<https://example.com>");
    expect(safeText("[https://example.com](https://example.com)")).toBe("<https://example.com>");
    expect(safeText("[my bank](mailto:thief@example.com)")).toBe("my bank <mailto:thief@example.com>");
  });

  test("leaves code, and what is no link, as it is", () => {
    for (const text of [
      "```md\n[docs](https://example.com)\n```",
      "Write `[docs](https://example.com)` for a link.",
      "Two: `a` and ``[b](https://example.com) ` c`` here.",
      "`handlers[name](event)` and handlers[name](event)",
      "# A heading\n\n- a list\n- **bold** https://example.com <https://example.com>",
      "[1] is a note (see there)",
    ]) {
      expect(safeText(text)).toBe(text);
    }
  });

  test("does not take for code what Discord may show as text", () => {
    for (const text of [
      "**a\n```\nb** [x](https://evil.example)\n```",
      "a ` b\n> ` [x](https://evil.example) `",
      "- ```\n[x](https://evil.example)\n```",
      "- a\n  ```\n[x](https://evil.example)\n  ```",
      "````\n```\n[x](https://evil.example)\n```\n````",
      "~~~\n[x](https://evil.example)\n~~~",
      "https://a`b [x](https://evil.example) `",
      "\\` `[x](https://evil.example)\\` `",
      "[x]([(https://evil.example)](https://ok.example))",
      "[[x]](https:\\//evil.example)",
      "[x\n```\n](https://evil.example)\n```\n",
    ]) {
      const safe = safeText(text);
      expect(safe).toContain("https:");
      expect(safe).not.toMatch(/\]\(\s*<?https/);
    }
  });

  test("whatever the text, no link hides where it leads", () => {
    fc.assert(
      fc.property(message, (text) => {
        expect(hidesLink(safeText(text))).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  test("a message never becomes longer, or empty", () => {
    fc.assert(
      fc.property(fc.oneof(message, fc.string({ unit: "binary" })), (text) => {
        const safe = safeText(text);
        expect(safe.length).toBeLessThanOrEqual(text.length);
        expect(safe.trim() === "").toBe(text.trim() === "");
      }),
      { numRuns: 1000 },
    );
  });

  test("half of a surrogate pair, which Discord refuses, becomes a replacement character", () => {
    expect(safeText("a\ud83d b\udc69 👩")).toBe("a\ufffd b\ufffd 👩");
  });
});
