import { beginsToClose, closedBy, type Fence, openedBy } from "./fence.ts";

/** The ends at which a text is best cut, and how full a message must be for each. */
interface Ends {
  paragraph: number;
  line: number;
  sentence: number;
  word: number;
  /** Whether the text ends inside of code, where a line is worth keeping whole. */
  inCode: boolean;
}

/** At its end: a full stop (not of a number, as in a list) and what closes a quotation or emphasis. */
const sentenceEnd = /(?:[^\d\s][.!?…][)\]"'”’»*_]*|[。！？][」』”）]*)$/u;
/** Would mean something else at the beginning of a message, or belongs to the character before it. */
const badBeginning = /^[`~#>*+\-\p{M}\u200d]/u;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Where to cut a text of which all but the last character fit into one message: in order of preference at the end of
 * a paragraph, line, sentence or word, else between two characters as people count them.
 */
export function cutPosition(text: string, fence: Fence | undefined): number {
  const ends = findEnds(text, fence);
  const full = text.length;
  if (ends.paragraph >= full / 2) return ends.paragraph;
  if (ends.line >= full / (ends.inCode ? 10 : 2)) return ends.line;
  if (ends.sentence >= full / 2) return ends.sentence;
  if (ends.word >= full / 4) return ends.word;
  return Math.max(betweenCharacters(text, ends.inCode), ends.line);
}

function findEnds(text: string, fence: Fence | undefined): Ends {
  const ends: Ends = { paragraph: 0, line: 0, sentence: 0, word: 0, inCode: false };
  let open = fence;
  for (let start = 0; ; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end < 0 ? undefined : end);
    const opened = open ? undefined : openedBy(line);
    if (opened) {
      // What stands before a block ends there. Behind its first line there is nothing in it yet.
      if (start > 0) ends.paragraph = start - 1;
      open = opened;
    } else if (open && closedBy(line, open)) {
      open = undefined;
      if (end >= 0) ends.paragraph = ends.line = end;
    } else if (line.trim() === "") {
      if (!open && start > 0) ends.paragraph = start - 1;
    } else {
      findEndsInLine(ends, line, start, open !== undefined);
      if (end >= 0 && !(open && beginsToClose(line, open))) ends.line = end;
    }
    if (end < 0) break;
    start = end + 1;
  }
  ends.inCode = open !== undefined;
  return ends;
}

function findEndsInLine(ends: Ends, line: string, start: number, inCode: boolean): void {
  for (const gap of line.matchAll(/(?<=\S)[ \t]+(?=\S)|(?<=[。！？」』])(?=[^\s。！？」』])/gu)) {
    const behind = gap.index + gap[0].length;
    if (badBeginning.test(line.slice(behind, behind + 2)) || seemsFence(line.slice(0, gap.index))) continue;
    const position = start + gap.index;
    if (gap[0] !== "") ends.word = position;
    if (!inCode && sentenceEnd.test(line.slice(Math.max(0, gap.index - 8), gap.index))) ends.sentence = position;
  }
}

/** Whether the beginning of a line, by itself, would open or close a block. */
function seemsFence(beginning: string): boolean {
  return /^[\s`~]*$/.test(beginning) || openedBy(beginning) !== undefined;
}

/** The last character may go on behind the text, so the cut is before it. */
function betweenCharacters(text: string, inCode: boolean): number {
  const whole = isHighSurrogate(text, text.length - 1) ? text.length - 1 : text.length;
  const segments = graphemes.segment(text.slice(0, whole));
  let position = segments.containing(whole - 1)?.index ?? 0;
  if (inCode && /[`~]/.test(text.charAt(position))) {
    // A line of code that began with these could close the block: one character more goes with them.
    const before = text.slice(0, position).replace(/[`~]+$/, "").length;
    position = segments.containing(before - 1)?.index || position;
  }
  if (position > text.length / 2) return position;
  // One character as people count them that is as long as a message: at least no half of a pair.
  return isHighSurrogate(text, text.length - 2) ? text.length - 2 : text.length - 1;
}

function isHighSurrogate(text: string, index: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(index));
}
