import type { Author } from "../session/session-event.ts";

/** One thing that somebody said, as it stands in the text of a user's message. */
export interface Utterance {
  /** `said` to the agent, or `overheard`: said nearby, to somebody else. */
  readonly kind: "said" | "overheard";
  readonly text: string;
  readonly author?: Author;
  /** ISO 8601; the label keeps minutes. */
  readonly at?: string;
}

/** What delimits, line breaks, controls and marks that change direction; the joiner inside of emoji is harmless. */
const odd = /[&"<>＜＞﹤﹥]|(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** What could be read as the beginning or the end of a label, with all backslashes that we put there. */
const imitation = /([<＜﹤])(\\*)(?=(?:[\s\p{Cf}]*\/)?[\s\p{Cf}]*(?:said|overheard)\b)/giu;
const block = /<(said|overheard)((?: [a-z]+="[^"<>]*")*)>\n([\s\S]*?)\n<\/\1>/g;
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
  return text.replace(imitation, "$1\\$2");
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
      kind: kind === "said" ? "said" : "overheard",
      text: (body ?? "").replace(imitation, (_match, opening, slashes: string) => opening + slashes.slice(1)),
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
