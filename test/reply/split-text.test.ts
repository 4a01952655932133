import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptySplit, growSplit, splitText, unsettledChunks } from "../../src/reply/split-text.ts";

const limit = 200;

/** Pieces that replies are made of, short enough that a few of them pass the limit. */
const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom(
    "e.g.",
    "end.",
    "Really?",
    "**bold**",
    "`code`",
    "[a](https://example.com)",
    "-",
    "#",
    ">",
    "1.",
    "2024.",
  ),
  fc.constantFrom("👩‍👩‍👧‍👦", "🇩🇪", "é", "e\u0301", "한국어", "漢字。", "👍🏽", "\u0928\u093f"),
);
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));
const codeLine = fc.oneof(
  sentence.map((text) => `  ${text.replaceAll("`", "'")}`),
  fc.constantFrom("", "", "    }", "return x;", "``", "~~", "`", "```js nope", "~~~~ nope"),
  fc.stringMatching(/^[a-z(){};]{0,300}$/),
);
const block = fc
  .record({
    indent: fc.constantFrom("", "  ", "   ", "- ", "1. ", "\t"),
    mark: fc.constantFrom("```", "````", "~~~", "~~~~~"),
    info: fc.constantFrom("", "js", "c++", "ts title=x", " python"),
    lines: fc.array(codeLine, { maxLength: 30 }),
    closed: fc.boolean(),
  })
  .map(({ indent, mark, info, lines, closed }) => {
    const closing = closed ? `\n${indent.replace(/\S/g, " ").slice(0, 3)}${mark}` : "";
    return `${indent}${mark}${info}\n${lines.join("\n")}${closing}`;
  });
const space = fc.constantFrom("\n", "\n\n", "\n\n\n\n", "  \n", "\r\n", " ".repeat(250), "\n".repeat(250), "\n    ");
const reply = fc
  .array(
    fc.oneof(
      sentence,
      block,
      fc.tuple(sentence, space).map(([text, gap]) => text + gap),
      space,
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join("\n"));
/** Everything that could confuse: fences, spaces and surrogates in any order. */
const chaos = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "```",
        "~~~",
        "`",
        "~",
        "````",
        "\n",
        "\n",
        " ",
        "\t",
        "x",
        "- ",
        "> ",
        "js",
        "👩‍👩‍👧‍👦",
        "\ud83d",
        "\udc69",
        "\u0301",
      ),
      fc.constantFrom(
        "`".repeat(13),
        "`".repeat(300),
        " ".repeat(300),
        "y".repeat(150),
        "z".repeat(450),
        "\u0301".repeat(300),
      ),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));
const anyText = fc.oneof({ weight: 3, arbitrary: reply }, chaos, fc.string({ unit: "grapheme", maxLength: 900 }));

interface Read {
  readonly characters: string;
  readonly openAtEnd: boolean;
}

/** Reads a text the plain way: its characters without white space and fence lines, those of code marked. */
function read(text: string): Read {
  let fence: string | undefined;
  let characters = "";
  const lines = text.trimEnd().split("\n");
  for (const [index, line] of lines.entries()) {
    const unfinished = index === lines.length - 1 && fence !== undefined && line.trim().length < fence.length;
    const opening = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,12}(?!`)(?=[^`]*$)|~{3,12}(?!~)).*$/.exec(line)?.[1];
    if (fence === undefined && opening !== undefined && line.length <= 80) {
      fence = opening;
    } else if (
      fence !== undefined &&
      /^(`+|~+)$/.test(line.trim()) &&
      line.trim()[0] === fence[0] &&
      (unfinished || line.trim().length >= fence.length)
    ) {
      fence = undefined;
    } else {
      for (const character of line) {
        if (character.trim() !== "") characters += fence === undefined ? character : `${character}\u0000`;
      }
    }
  }
  return { characters, openAtEnd: fence !== undefined };
}

describe("splitText", () => {
  test("every message is within the limit and says something", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const chunks = splitText(text, limit);
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(limit);
          expect(chunk.trim()).not.toBe("");
          expect(chunk.trimEnd()).toBe(chunk);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("every message closes the fences that it opens", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const chunk of splitText(text, limit)) expect(read(chunk).openAtEnd).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test("all messages but the last of a beginning are messages of the whole, and there are never fewer", () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, at) => {
        const beginning = splitText(text.slice(0, at % (text.length + 1)), limit);
        const whole = splitText(text, limit);
        expect(whole.slice(0, Math.max(0, beginning.length - 1))).toEqual(beginning.slice(0, -1));
        expect(whole.length).toBeGreaterThanOrEqual(beginning.length);
      }),
      { numRuns: 300 },
    );
  });

  test("a text that grows piece by piece is split like the whole", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, fc.string({ maxLength: 5 })), { maxLength: 8 }), (pieces) => {
        const grown = pieces.reduce(growSplit, emptySplit(limit));
        expect([...grown.settled, ...unsettledChunks(grown)]).toEqual(splitText(pieces.join(""), limit));
      }),
      { numRuns: 300 },
    );
  });

  test("the messages together say what the text says, code as code", () => {
    fc.assert(
      fc.property(reply, (text) => {
        const together = splitText(text, limit)
          .map((chunk) => read(chunk).characters)
          .join("");
        expect(together).toBe(read(text).characters);
      }),
      { numRuns: 1000 },
    );
  });

  test("no character is lost, whatever the text", () => {
    const bare = (text: string) => text.replaceAll(/[\s`~xjs-]/g, "");
    fc.assert(
      fc.property(chaos, (beginning) => {
        const text = `${beginning}\nend`;
        expect(bare(splitText(text, limit).join(""))).toBe(bare(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("what people count as one character is not cut", () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
    const characters = (text: string) =>
      Array.from(segmenter.segment(text), ({ segment }) => segment).filter((it) => it.trim());
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: "grapheme", maxLength: 40 }).filter((it) => !/[`~\r]/.test(it)),
          { maxLength: 40 },
        ),
        (parts) => {
          const text = parts.map((part) => part.replace(/^(?:\p{M}|\p{Cf})+/u, "")).join("");
          expect(splitText(text, limit).flatMap(characters)).toEqual(characters(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  describe("with Discord's limit", () => {
    const withoutFences = (chunks: string[]) =>
      chunks.map((chunk) => chunk.replace(/^```ts\n/, "").replace(/\n```$/, ""));

    test("6,000 characters of prose become messages that end with their paragraphs", () => {
      const paragraphs = Array.from({ length: 12 }, (_, index) => `${index}. ${"Some words. ".repeat(40).trim()}`);
      const chunks = splitText(paragraphs.join("\n\n"));
      expect(chunks.join("\n\n")).toBe(paragraphs.join("\n\n"));
      expect(chunks.map((chunk) => chunk.split("\n\n").length)).toEqual([4, 4, 4]);
    });

    test("a block of 300 lines is closed and opened again with its language, and no line is cut", () => {
      const lines = Array.from(
        { length: 300 },
        (_, index) => `${"  ".repeat(index % 5)}const value${index} = ${index};`,
      );
      const chunks = splitText(`\`\`\`ts\n${lines.join("\n")}\n\`\`\``);
      expect(chunks.length).toBeGreaterThan(3);
      for (const chunk of chunks) {
        expect(chunk.length).toBeLessThanOrEqual(2000);
        expect(chunk).toMatch(/^```ts\n[\s\S]*\n```$/);
      }
      expect(withoutFences(chunks).join("\n")).toBe(lines.join("\n"));
    });

    test("1,998 characters with an open fence are closed within the limit", () => {
      const code = Array.from({ length: 199 }, () => "  a = b;").join("\n");
      const text = `Look:\n\`\`\`ts\n${code}`.padEnd(1998, "\nx");
      expect(text).toHaveLength(1998);
      const chunks = splitText(text);
      expect(chunks).toHaveLength(2);
      for (const chunk of chunks) {
        expect(chunk.length).toBeLessThanOrEqual(2000);
        expect(chunk.match(/^```/gm)).toHaveLength(2);
      }
    });

    test("one line of 5,000 characters is cut where the limit is, and joined it is the same", () => {
      const line = Array.from({ length: 5000 }, (_, index) => "abcdefghij"[index % 10]).join("");
      const chunks = splitText(line);
      expect(chunks.map(({ length }) => length)).toEqual([2000, 2000, 1000]);
      expect(chunks.join("")).toBe(line);
      const code = splitText(`\`\`\`ts\n${line}\n\`\`\``);
      expect(withoutFences(code).join("")).toBe(line);
    });

    test("a text that fits stays as it is, and one that says nothing becomes no message", () => {
      expect(splitText("a".repeat(2000))).toEqual(["a".repeat(2000)]);
      expect(splitText("\n - one\n - two \n")).toEqual(["- one\n - two"]);
      expect(splitText("")).toEqual([]);
      expect(splitText(" \n\t ")).toEqual([]);
    });

    test("prefers the end of a line, then of a sentence, then of a word", () => {
      const filler = "x".repeat(1900);
      expect(splitText(`${filler}\nA sentence. ${"word ".repeat(40)}`)[0]).toBe(filler);
      expect(splitText(`${filler} It ends. Then ${"word".repeat(40)}`)[0]).toBe(`${filler} It ends.`);
      expect(splitText(`${filler} 3. item ${"word".repeat(40)}`)[0]).toBe(`${filler} 3. item`);
      expect(splitText(`${"漢".repeat(1900)}。${"字".repeat(200)}`)[0]).toBe(`${"漢".repeat(1900)}。`);
    });

    test("text before a block is not torn from it, and a block that fits is kept whole", () => {
      const block = `\`\`\`ts\n${"line\n".repeat(200)}\`\`\``;
      const before = "Words. ".repeat(180).trim();
      expect(splitText(`${before}\n\n${block}`)).toEqual([before, block]);
    });

    test("a longer fence keeps a shorter one inside as code", () => {
      const inner = `\`\`\`js\n${"code();\n".repeat(150)}\`\`\``;
      const chunks = splitText(`\`\`\`\`md\n${inner}\n\n${inner}\n\`\`\`\``);
      expect(chunks.length).toBeGreaterThan(1);
      for (const chunk of chunks) expect(chunk).toMatch(/^````md\n[\s\S]*\n````$/);
    });
  });
});
