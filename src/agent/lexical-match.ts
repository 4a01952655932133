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

/**
 * The candidate that shares most of what the question is about: its words, by length and by how few candidates have
 * them, with their endings forgiven. Of about equal ones the last. `undefined`: none is close.
 */
export function closestMatch(question: string, candidates: readonly string[]): Match | undefined {
  if (!hasTopic(question)) return undefined;
  const asked = Array.from(new Set(wordsOf(question)));
  const texts = candidates.map((text) => new Set(wordsOf(text)));
  const found = asked.map((word) => texts.map((text) => bestLikeness(word, text)));
  const weights = asked.map((word, place) => {
    const having = found[place]?.filter((likeness) => likeness > 0).length ?? 0;
    return weightOf(word) * Math.log(1 + candidates.length / Math.max(having, 0.5));
  });
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let best: Match | undefined;
  for (let index = 0; index < candidates.length; index += 1) {
    const shared = weights.reduce((sum, weight, place) => sum + weight * (found[place]?.[index] ?? 0), 0);
    const score = shared / whole;
    if (score >= threshold && score >= (best?.score ?? 0) * 0.9) {
      best = { index, score: Math.max(score, best?.score ?? 0) };
    }
  }
  return best;
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
  for (const character of word) {
    if (/\p{Script=Han}/u.test(character)) length += 3;
    else if (/[\p{Script=Hangul}\p{Script=Katakana}\p{N}]/u.test(character)) length += 2;
    else length += 1;
  }
  return length;
}

function bestLikeness(word: string, others: ReadonlySet<string>): number {
  if (others.has(word)) return 1;
  let best = 0;
  for (const other of others) best = Math.max(best, likeness(word, other));
  return best;
}

/** Words of one stem share a long beginning. */
function likeness(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  const part = shared / Math.max(a.length, b.length);
  return part >= 0.6 && lengthOf(a.slice(0, shared)) >= 4 ? part : 0;
}
