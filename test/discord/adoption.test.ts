import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adopted, beginReading, type Chunk, chunksOf, type DrawnMessage, readOn } from "../../src/discord/adoption.ts";
import { nextStep } from "../../src/discord/drawing.ts";
import type { Place } from "../../src/discord/place.ts";

const place = { channel: "thread", message: "question" };

/** Chunks as they stand, named after their content; "a<x" replies to x. */
function standing(...texts: readonly string[]): Chunk[] {
  return texts.map((text, index) => {
    const [content = "", replyTo] = text.split("<");
    return { id: `${index}`, content, replyTo };
  });
}

function contents(chunks: readonly { readonly content: string }[]): string[] {
  return chunks.map(({ content }) => content);
}

describe("the messages of a turn", () => {
  it("are those that reply to its question and those without a reply that follow", () => {
    const found = standing("old", "a<before", "b", "c<question", "d", "e", "f<after", "g");
    expect(contents(chunksOf(found, place))).toEqual(["c", "d", "e"]);
  });

  it("in a new thread, where there is nothing to reply to, are those before the first reply", () => {
    expect(contents(chunksOf(standing("a", "b", "c<after", "d"), { channel: "thread" }))).toEqual(["a", "b"]);
  });

  it("are found with what somebody else has posted of it at the same time", () => {
    expect(contents(chunksOf(standing("a<question", "a<question", "b", "b"), place))).toEqual(["a", "a", "b", "b"]);
  });
});

describe("a reading", () => {
  const page = (next: string | undefined, ...texts: readonly string[]) => ({ chunks: standing(...texts), next });

  it("begins behind the question, and in a new thread behind the thread's beginning", () => {
    expect(beginReading(place).after).toBe("question");
    expect(beginReading({ channel: "thread" }).after).toBe("thread");
  });

  it("goes on page by page until there is none, or another turn begins behind this one's", () => {
    const first = readOn(beginReading(place), page("100", "x<other"), place);
    expect(first).toMatchObject({ isWhole: false, reading: { after: "100", pages: 1 } });
    const second = readOn(first.reading, page("200", "a<question"), place);
    expect(second).toMatchObject({ isWhole: false, reading: { after: "200", pages: 2 } });
    expect(readOn(second.reading, page("300", "b"), place).isWhole).toBe(false);
    expect(readOn(second.reading, page("300", "b", "c<next"), place).isWhole).toBe(true);
    const last = readOn(second.reading, page(undefined, "b"), place);
    expect([last.isWhole, contents(last.reading.found)]).toEqual([true, ["x", "a", "b"]]);
  });

  it("ends after a while, however much was said since", () => {
    let pages = 0;
    for (let reading = beginReading(place), isWhole = false; !isWhole; pages += 1) {
      ({ reading, isWhole } = readOn(reading, page("more"), place));
    }
    expect(pages).toBe(20);
  });
});

describe("what is adopted", () => {
  it("is what stands, in order", () => {
    const found = standing("a<question", "b");
    expect(adopted([], found, place, ["a", "b", "c"])).toEqual([
      { id: "0", content: "a" },
      { id: "1", content: "b" },
    ]);
  });

  it("leaves a place for what was deleted between others", () => {
    const found = standing("a<question", "d", "e");
    expect(adopted([], found, place, ["a", "b", "c", "d", "e", "f"])).toEqual([
      { id: "0", content: "a" },
      { id: undefined, content: "b" },
      { id: undefined, content: "c" },
      { id: "1", content: "d" },
      { id: "2", content: "e" },
    ]);
  });

  it("takes a message that was cut short for itself, not for a later one that looks the same", () => {
    const found = standing("aaaa<question", "aa");
    expect(adopted([], found, place, ["aaaa", "aaaa", "aa"])).toEqual([
      { id: "0", content: "aaaa" },
      { id: "1", content: "aa" },
    ]);
  });

  it("goes by the words where the first message, or the question itself, was deleted", () => {
    expect(adopted([], standing("x<before", "b", "c"), place, ["a", "b", "c"])).toEqual([
      { id: undefined, content: "a" },
      { id: "1", content: "b" },
      { id: "2", content: "c" },
    ]);
    expect(adopted([], standing("x<before", "y", "a", "b"), place, ["a", "b"])).toEqual([
      { id: "2", content: "a" },
      { id: "3", content: "b" },
    ]);
    expect(adopted([], standing("x<before", "y"), place, ["a", "b"])).toEqual([]);
  });

  it("keeps what is known in its place, as it stands by now, and puts what is new behind it", () => {
    const known = [
      { id: "0", content: "a!" },
      { id: undefined, content: "b" },
    ];
    expect(adopted(known, standing("a<question", "c", "c"), place, ["a!", "b", "c"])).toEqual([
      { id: "0", content: "a" },
      { id: undefined, content: "b" },
      { id: "1", content: "c" },
      { id: "2", content: "c" },
    ]);
  });

  it("completes a reply wherever it broke off, with every chunk once and in order", () => {
    // Also of texts that look alike.
    const text = fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.constantFrom("a", "aa", "ab", "b"));
    const texts = fc.array(text, { minLength: 1, maxLength: 6 });
    const others = fc.array(fc.constantFrom("x<before", "y<later", "z<other"), { maxLength: 3 });
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), others, fc.boolean(), (chunks, sent, cut, around, isNew) => {
        const here: Place = isNew ? { channel: "thread" } : place;
        const count = sent % (chunks.length + 1);
        const posted = chunks.slice(0, count).map((content, index) => {
          // The last one may have been on its way to its whole text.
          const shown = index === count - 1 ? content.slice(0, 1 + (cut % content.length)) : content;
          return { id: `own${index}`, content: shown, replyTo: index === 0 ? here.message : undefined };
        });
        const beside = standing(...around).map(({ content, replyTo }, index) => ({
          id: `o${index}`,
          content,
          replyTo,
        }));
        const found = isNew ? [...posted, ...beside] : [...beside, ...posted];
        const end = drawn(adopted([], found, here, chunks), chunks);
        expect(contents(end)).toEqual(chunks);
        expect(end.slice(0, count).map(({ id }) => id)).toEqual(posted.map(({ id }) => id));
      }),
    );
  });

  it("never brings back a message that was deleted between others of a whole reply", () => {
    const texts = fc.uniqueArray(fc.string({ minLength: 8, maxLength: 8 }), { minLength: 3, maxLength: 6 });
    fc.assert(
      fc.property(texts, fc.nat(), (chunks, nat) => {
        const gone = nat % (chunks.length - 1);
        const posted = chunks.map((content, index) => ({
          id: `own${index}`,
          content,
          replyTo: index === 0 ? place.message : undefined,
        }));
        const end = drawn(adopted([], posted.toSpliced(gone, 1), place, chunks), chunks);
        expect(end.filter(({ id }) => id).map(({ content }) => content)).toEqual(chunks.toSpliced(gone, 1));
      }),
    );
  });
});

/** What stands once a finished view of these chunks has been drawn. */
function drawn(before: readonly DrawnMessage[], chunks: readonly string[]): DrawnMessage[] {
  const messages = [...before];
  const view = { turn: "t", replyTo: null, chunks, typing: false, finished: true };
  for (;;) {
    const step = nextStep({ view, messages, reading: undefined });
    if (!step || step.do === "read") return messages;
    if (step.do === "remove") messages.pop();
    else messages[step.index] = { id: messages[step.index]?.id ?? `new${step.index}`, content: step.content };
  }
}
