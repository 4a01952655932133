const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** English words without a topic of their own. Other languages go by length: their function words are short too. */
const functionWords = new Set(
  `a about again all am an and any anybody anyone are as at be been but by can could did do does done for from had has
  have he her his how i if in into is it its just know me my no not now of on or our please remember remind say said
  she should so somebody someone tell than that the their them then there these they this those to up us was we were
  what when where which who whom whose why will with would you your everybody everyone got get`.split(/\s+/),
);

export interface Match {
  /** Place among the candidates. */
  readonly index: number;
  /** 0 to 1: how much of what the question is about is there. */
  readonly score: number;
}

/** Below it, what two texts share is chance. */
const threshold = 0.3;
/** How many words of a question are looked for: its heaviest. */
const askedWords = 40;
/** How many words of one stem are looked at, the newest. More are no language, and would take their time. */
const stemWords = 1_000;
/** In letters: how long a beginning words of one stem share at least. */
const stemLength = 4;

/** The candidate that is closest to the question, see `LexicalIndex`. */
export function closestMatch(question: string, candidates: readonly string[]): Match | undefined {
  const index = new LexicalIndex();
  for (const candidate of candidates) index.add(candidate);
  return index.closestTo(question);
}

/** Texts by their words, so that each is read once however many questions are asked. */
export class LexicalIndex {
  #size = 0;
  /** The places of the candidates that have a word. */
  readonly #places = new Map<string, number[]>();
  /** The words that are long enough to be of a stem, by the beginning that words of one stem share. */
  readonly #byStem = new Map<string, string[]>();

  /** Adds a candidate, behind those that are there. */
  add(text: string): void {
    for (const word of new Set(wordsOf(text))) {
      const stem = this.#places.has(word) ? undefined : stemOf(word);
      if (stem !== undefined) append(this.#byStem, stem, word);
      append(this.#places, word, this.#size);
    }
    this.#size += 1;
  }

  /**
   * The candidate that shares most of what the question is about: its words, by length and by how few candidates have
   * them, with their endings forgiven. Of about equal ones the last. `undefined`: none is close.
   */
  closestTo(question: string): Match | undefined {
    const words = Array.from(new Set(wordsOf(question)));
    if (words.every((word) => functionWords.has(word))) return undefined;
    const asked = words.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, askedWords);
    const shared = new Float64Array(this.#size);
    let whole = 0;
    for (const word of asked) {
      const found = this.#find(word);
      const weight = weightOf(word) * Math.log(1 + this.#size / Math.max(found.size, 0.5));
      whole += weight;
      for (const [place, likeness] of found) shared[place] = (shared[place] as number) + weight * likeness;
    }
    let best: Match | undefined;
    for (const [index, sum] of shared.entries()) {
      const score = sum / whole;
      if (score >= threshold && score >= (best?.score ?? 0) * 0.9) {
        best = { index, score: Math.max(score, best?.score ?? 0) };
      }
    }
    return best;
  }

  /** The places of the candidates that have the word or one of its stem, with the greatest likeness in each. */
  #find(word: string): Map<number, number> {
    const found = new Map<number, number>();
    const note = (other: string, likeness: number) => {
      for (const place of this.#places.get(other) ?? []) {
        if (likeness > (found.get(place) ?? 0)) found.set(place, likeness);
      }
    };
    note(word, 1);
    const alike = this.#byStem.get(stemOf(word) ?? "") ?? [];
    for (const other of alike.slice(-stemWords)) note(other, likeness(word, other));
    return found;
  }
}

/** Whether a text is about something: "what did I say?" is not. */
export function hasTopic(text: string): boolean {
  return wordsOf(text).some((word) => !functionWords.has(word));
}

/** The words of a text in any script, without case and accents. */
export function wordsOf(text: string): string[] {
  return Array.from(segmenter.segment(plain(text)))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
}

/** Accents are dropped only where a word without them is still readable. */
function plain(text: string): string {
  const bare = text.normalize("NFD").replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu, "$1");
  return bare.normalize("NFKC").toLowerCase();
}

function weightOf(word: string): number {
  if (functionWords.has(word)) return 0.1;
  return Math.min(6, Math.max(0.2, lengthOf(word) - 2));
}

/** In letters: what stands for a syllable or a word counts as two or three, and so does a digit. */
function lengthOf(word: string): number {
  let length = 0;
  for (const character of word) length += lettersIn(character);
  return length;
}

function lettersIn(character: string): number {
  if (/[a-z]/.test(character)) return 1;
  if (/\p{Script=Han}/u.test(character)) return 3;
  return /[\p{Script=Hangul}\p{Script=Katakana}\p{N}]/u.test(character) ? 2 : 1;
}

/** The shortest beginning of at least `stemLength`; `undefined`: the word is shorter. */
function stemOf(word: string): string | undefined {
  let stem = "";
  let length = 0;
  for (const character of word) {
    stem += character;
    length += lettersIn(character);
    if (length >= stemLength) return stem;
  }
  return undefined;
}

/** How much two words share of which the stem is the same. */
function likeness(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  const part = shared / Math.max(a.length, b.length);
  return part >= 0.6 ? part : 0;
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
