import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closestMatch, hasTopic, wordsOf } from "../../src/agent/lexical-match.ts";

const text = fc.string({ unit: "grapheme", maxLength: 60 });

describe("the closest match", () => {
  it("is one of the candidates, with a score from 0 to 1", () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 8 }), (question, candidates) => {
        const match = closestMatch(question, candidates);
        if (!match) return;
        expect(candidates[match.index]).toBeDefined();
        expect(match.score).toBeGreaterThan(0);
        expect(match.score).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  it("of a text that holds whole what is asked about is found, wherever it stands", () => {
    const word = fc.string({ unit: fc.constantFrom(..."bdfgjklmnprtvz".split("")), minLength: 5, maxLength: 10 });
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 4, maxLength: 4 }), fc.nat(3), ([a, b, c, d], place) => {
        const others = [`${c} ${d}`, `${d} one two`, `nothing of it`];
        const candidates = others.toSpliced(place, 0, `the ${a} is at ${b}`);
        expect(closestMatch(`where is ${a} of ${b}?`, candidates)?.index).toBe(place);
      }),
    );
  });

  it("is undefined where nothing is shared", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (candidates) => {
        expect(closestMatch("qqqqqqq wwwwwww", candidates)).toBeUndefined();
      }),
    );
    expect(closestMatch("", ["something"])).toBeUndefined();
    expect(closestMatch("something", [])).toBeUndefined();
  });

  it.each([
    ["Who is bringing the cake?", ["Ben paints the house", "I'll bring a cake", "Rain tomorrow"], 1],
    ["when do our projects end", ["The project ends in May", "The dog sleeps"], 0],
    ["Wann ist die Fristverlängerung?", ["Das Wetter ist gut", "Die Fristverlängerungen sind genehmigt"], 1],
    ["où est le café", ["La gare est fermée", "Le CAFE est au coin"], 1],
    ["締め切りはいつですか", ["天気がいい", "締め切りは金曜日です"], 1],
    ["截止日期是什么时候", ["会议在上海举行", "截止日期是五月"], 1],
    ["마감일이 언제야", ["날씨가 좋다", "마감일은 금요일"], 1],
    ["Когда сдача проекта?", ["Погода хорошая", "Сдача проектов в мае"], 1],
    ["Where is 𠮷野屋的招牌?", ["天気がいい", "𠮷野屋的招牌在门口"], 1],
    ["What about 4711?", ["the code is 4712", "the code is 4711"], 1],
  ])("%s", (question, candidates, index) => {
    expect(closestMatch(question, candidates)?.index).toBe(index);
  });

  it.each([
    ["What should we do about the printer?", ["The weather is nice, what do you think about it?"]],
    ["What is the capital of France?", ["Set the deadline for the project to May"]],
    ["Who are you?", ["You are late"]],
  ])("what two texts share only by grammar is no match: %s", (question, candidates) => {
    expect(closestMatch(question, candidates)).toBeUndefined();
  });

  it("of equally close ones is the newest, so that a correction wins", () => {
    expect(closestMatch("the deadline?", ["The deadline is May", "The deadline is June", "Rain"])?.index).toBe(1);
  });

  it("of a question of many words is found by the heaviest, wherever they stand", () => {
    const chatter = `a about again all am an and any anybody anyone are as at be been but by can could did do does done
      for from had has have he her his how i if in into is it its just know me my no not now of`;
    const question = `${chatter} where are the binoculars?`;
    expect(closestMatch(question, ["The tent is dry", "My binoculars are in the attic"])?.index).toBe(1);
  });

  it("looks at no more words of one stem than any language has", () => {
    const words = (from: number) => Array.from({ length: 700 }, (_, place) => `abcdefghij${from + place}`).join(" ");
    const candidates = [words(1_000), words(2_000), words(3_000)];
    expect(closestMatch("abcdefghij9999", candidates)?.index).toBe(2);
    expect(closestMatch("abcdefghij1001", candidates)?.index).toBe(0);
  });

  it("prefers what few candidates have", () => {
    const candidates = ["alpha team meets Monday", "alpha team meets Tuesday about budget", "alpha team eats"];
    expect(closestMatch("alpha budget", candidates)?.index).toBe(1);
  });
});

describe("words", () => {
  it("have no case and no accents where a word is readable without them", () => {
    expect(wordsOf("Crème BRÛLÉE, naïve; Ёлка!")).toEqual(["creme", "brulee", "naive", "елка"]);
    expect(wordsOf("ไทย")).toEqual(["ไทย"]);
    expect(wordsOf("🎉 -- …")).toEqual([]);
  });

  it("a text of function words alone is about nothing", () => {
    expect(hasTopic("What did I say?")).toBe(false);
    expect(hasTopic("What did I say about rain?")).toBe(true);
    expect(hasTopic("")).toBe(false);
  });
});
