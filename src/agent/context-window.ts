import type { ModelMessage, UserModelMessage } from "ai";
import type { Session } from "../session/session.ts";
import type { SessionEvent } from "../session/session-event.ts";
import { startsTurn } from "../session/turn-start.ts";
import { cutResults } from "./cut-result.ts";
import { cutText } from "./cut-text.ts";
import { healMessages } from "./heal-messages.ts";
import { closeLabel, encodeUtterance, neutralise, openLabel } from "./speaker-label.ts";

type UserPart = Exclude<UserModelMessage["content"], string>[number];

/** Stands for what is not even in a summary. */
const leftOut = "The older part of this conversation is not shown.";

/**
 * What the model is shown of a part of a conversation: each speaker labelled, what people said and tools returned cut
 * to `maxLength` characters a text, the whole healed. Depends on the events alone, so a longer conversation begins with
 * the same bytes.
 */
export function showEvents(events: readonly SessionEvent[], maxLength: number): ModelMessage[] {
  return healMessages(events.map((event) => showEvent(event, maxLength)));
}

/** The same of one event, not healed. */
export function showEvent(event: SessionEvent, maxLength: number): ModelMessage {
  const { message } = event;
  if (message.role === "user") return showInput(event, message, maxLength);
  return message.role === "tool" ? cutResults(message, maxLength) : message;
}

/** What the model is shown in the place of the part that it is not shown. */
export function showOlder({ summary, earlier }: Pick<Session, "summary" | "earlier">): ModelMessage[] {
  if (earlier === 0) return [];
  return [{ role: "user", content: encodeUtterance({ kind: "summary", text: summary?.text ?? leftOut }) }];
}

/** The newest whole turns within `maxBytes`, beginning at a user's turn; always at least the newest of them. */
export function cutAtTurn(
  events: readonly SessionEvent[],
  maxBytes: number,
  sizeOf: (event: SessionEvent) => number,
): readonly SessionEvent[] {
  let start = events.length;
  let bytes = 0;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    bytes += sizeOf(events[index] as SessionEvent);
    if (bytes > maxBytes && start < events.length) break;
    if (startsTurn(events[index] as SessionEvent, events[index - 1])) start = index;
  }
  return events.slice(start);
}

/** Stands where somebody took their words back: the answer to them would else follow another answer, or nothing. */
const erasedWords = "[a message that was deleted]";

function showInput(
  { author, at, context = [], erased }: SessionEvent,
  message: UserModelMessage,
  maxLength: number,
): UserModelMessage {
  const opening = [
    ...context.map(({ author: speaker, text }) =>
      encodeUtterance({ kind: "overheard", author: speaker, text: wellFormed(cutText(text, maxLength)) }),
    ),
    openLabel({ kind: "said", at, ...(author && { author }) }),
  ].join("\n");
  const parts = erased ? [textPart(erasedWords)] : showContent(message.content, maxLength);
  if (parts.length === 0) return { ...message, content: "" };
  return { ...message, content: joinTexts([textPart(opening), ...parts, textPart(closeLabel("said"))]) };
}

/**
 * Neutralised texts, and files by value: a link would be fetched by the SDK or the provider, whoever sent it. Texts
 * are joined before they are neutralised, since a label can be imitated in pieces.
 */
function showContent(content: UserModelMessage["content"], maxLength: number): UserPart[] {
  const parts = typeof content === "string" ? [textPart(content)] : content.map(withoutLink);
  return joinTexts(parts.filter((part) => part.type !== "text" || part.text.trim() !== "")).map((part) =>
    part.type === "text" ? { ...part, text: neutralise(wellFormed(cutText(part.text, maxLength))) } : part,
  );
}

function withoutLink(part: UserPart): UserPart {
  if (part.type === "text") return part;
  return isLink(part.type === "image" ? part.image : part.data) ? textPart("[a linked file, not shown]") : part;
}

/** Half of a surrogate pair has no form in UTF-8, and some providers refuse a request that holds one. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function isLink(data: unknown): boolean {
  if (data instanceof URL) return data.protocol !== "data:";
  return typeof data === "string" && URL.canParse(data) && !data.startsWith("data:");
}

function textPart(text: string): UserPart {
  return { type: "text", text };
}

/** Neighbouring plain texts as one, since not every provider keeps the border between parts. */
function joinTexts(parts: readonly UserPart[]): UserPart[] {
  const joined: UserPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.type === "text" && part.type === "text") {
      joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}
