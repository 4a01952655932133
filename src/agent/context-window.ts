import type { ModelMessage, UserModelMessage } from "ai";
import type { SessionEvent } from "../session/session-event.ts";
import { healMessages } from "./heal-messages.ts";
import { closeLabel, encodeUtterance, neutralise, openLabel } from "./speaker-label.ts";

type UserPart = Exclude<UserModelMessage["content"], string>[number];

/**
 * What the model is shown of a part of a conversation: each speaker labelled, the whole healed. Depends on the events
 * alone, so a longer conversation begins with the same bytes.
 */
export function showEvents(events: readonly SessionEvent[]): ModelMessage[] {
  return healMessages(
    events.map((event) => (event.message.role === "user" ? showInput(event, event.message) : event.message)),
  );
}

/** The newest whole turns within `maxBytes` of `sizeOf`, beginning at a user's turn; always at least the newest of them. */
export function cutAtTurn(events: readonly SessionEvent[], maxBytes: number): readonly SessionEvent[] {
  let start = events.length;
  let bytes = 0;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    bytes += sizeOf(events[index] as SessionEvent);
    if (bytes > maxBytes && start < events.length) break;
    if (beginsTurn(events, index)) start = index;
  }
  return events.slice(start);
}

/** In bytes of JSON. */
export function sizeOf(event: SessionEvent): number {
  return Buffer.byteLength(JSON.stringify(event));
}

/** At the first of the user's words, as a session is loaded. */
function beginsTurn(events: readonly SessionEvent[], index: number): boolean {
  return events[index]?.message.role === "user" && events[index - 1]?.message.role !== "user";
}

function showInput({ author, at, context = [] }: SessionEvent, message: UserModelMessage): UserModelMessage {
  const opening = [
    ...context.map(({ author: speaker, text }) => encodeUtterance({ kind: "overheard", author: speaker, text })),
    openLabel({ kind: "said", at, ...(author && { author }) }),
  ].join("\n");
  const parts = showContent(message.content);
  if (parts.length === 0) return { ...message, content: "" };
  return { ...message, content: joinTexts([textPart(opening), ...parts, textPart(closeLabel("said"))]) };
}

/** Neutralised texts, and files by value: a link would be fetched by the SDK or the provider, whoever sent it. */
function showContent(content: UserModelMessage["content"]): UserPart[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [textPart(neutralise(content))];
  return content
    .filter((part) => part.type !== "text" || part.text.trim() !== "")
    .map((part) => {
      if (part.type === "text") return { ...part, text: neutralise(part.text) };
      return isLink(part.type === "image" ? part.image : part.data) ? textPart("[a linked file, not shown]") : part;
    });
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
