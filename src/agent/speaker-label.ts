import type { Author } from "../session/session-event.ts";

/** One thing that somebody said, as it stands in the text of a user's message. */
export interface Utterance {
  /** `said` to the agent; `overheard`: said nearby, to somebody else; `summary`: of what all of them said before. */
  readonly kind: (typeof kinds)[number];
  readonly text: string;
  readonly author?: Author;
  /** ISO 8601; the label keeps minutes. */
  readonly at?: string;
}

/** What is, or looks like, the sign that begins a label. */
const sign = "<\u226e＜﹤‹\u2329〈⟨❬❮❰«《⟪˂ᐸ";
/** What delimits, breaks a line, controls, changes direction or is half a character; the joiner in emoji is harmless. */
const odd = new RegExp(`[&">＞﹥${sign}]|(?!\\u200d)[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Surrogate}]`, "gu");
/** A sign with all backslashes that we put there. */
const beginning = new RegExp(`([${sign}])(\\\\*)`, "gu");
/** What nobody sees, or sees only as a mark on the letter before it. Line breaks are seen. */
const unseen = /(?![\t-\r])[\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const kinds = ["said", "overheard", "summary"] as const;
const block = /<(said|overheard|summary)((?: [a-z]+="[^"<>]*")*)>\n([\s\S]*?)\n<\/\1>/g;
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** The line that opens an utterance. Names are quoted and escaped, so that none can close it or add to it. */
export function openLabel({ kind, author, at }: Omit<Utterance, "text">): string {
  const when = at === undefined ? undefined : writeTime(at);
  const attributes = [
    ...(author ? [`by="${escapeAttribute(author.name)}"`, `id="${escapeAttribute(author.id)}"`] : []),
    ...(when ? [`at="${when}"`] : []),
  ];
  return `<${[kind, ...attributes].join(" ")}>\n`;
}

export function closeLabel(kind: Utterance["kind"]): string {
  return `\n</${kind}>`;
}

/** Puts a backslash into what imitates a label, so that no text can end its own label or open another. */
export function neutralise(text: string): string {
  return text.replace(beginning, (found, opening, slashes, at) =>
    readsAsLabel(text, at + found.length) ? `${opening}\\${slashes}` : found,
  );
}

function withoutBackslashes(text: string): string {
  return text.replace(beginning, (found, opening, slashes, at) =>
    readsAsLabel(text, at + found.length) ? opening + slashes.slice(1) : found,
  );
}

/**
 * Whether a reader finds the name of a label at `from`, behind spaces and slashes. Each character counts as what it
 * looks like: letters by their base letter and in any width or style, unseen ones as nothing.
 */
function readsAsLabel(text: string, from: number): boolean {
  let word = "";
  for (let at = from; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    // A word that merely begins like a label ends elsewhere.
    if (isKind(word)) return !/\w/.test(character);
    at += character.length;
    const seen = character.normalize("NFKD").replace(unseen, "").toLowerCase();
    if (word === "" && /^[\s/⁄∕⧸]*$/.test(seen)) continue;
    word += seen;
    if (!kinds.some((kind) => kind.startsWith(word))) return false;
  }
  return isKind(word);
}

function isKind(word: string): boolean {
  return kinds.some((kind) => kind === word);
}

export function encodeUtterance(utterance: Utterance): string {
  return openLabel(utterance) + neutralise(utterance.text) + closeLabel(utterance.kind);
}

/** The utterances in a text, in order; what stands outside of labels is left out. The inverse of encoding. */
export function decodeUtterances(text: string): Utterance[] {
  return Array.from(text.matchAll(block), ([, kind, attributes, body]) => {
    const values = new Map(Array.from((attributes ?? "").matchAll(/ ([a-z]+)="([^"]*)"/g), (m) => [m[1], m[2]]));
    const name = values.get("by");
    const at = readTime(values.get("at") ?? "");
    return {
      kind: kind as Utterance["kind"],
      text: withoutBackslashes(body ?? ""),
      ...(name === undefined
        ? {}
        : { author: { id: unescapeAttribute(values.get("id") ?? ""), name: unescapeAttribute(name) } }),
      ...(at ? { at } : {}),
    };
  });
}

/** "Sat 2025-12-27 10:03 UTC": models are poor at weekdays, so they are told. */
function writeTime(at: string): string | undefined {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return undefined;
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(date.toISOString()) ?? [];
  return day && `${weekdays[date.getUTCDay()]} ${day} ${time} UTC`;
}

function readTime(label: string): string | undefined {
  const [, day, time] = /^\w{3} (\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC$/.exec(label) ?? [];
  return day && `${day}T${time}:00.000Z`;
}

function escapeAttribute(value: string): string {
  return value.replace(odd, (character) => `&#x${character.codePointAt(0)?.toString(16)};`);
}

function unescapeAttribute(value: string): string {
  return value.replace(/&#x([0-9a-f]+);/g, (_match, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}
