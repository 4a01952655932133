import type { Place } from "./place.ts";

/*
 * What a turn has on Discord is read from Discord: nothing about drawn messages is stored. Why these rules hold is in
 * docs/decisions/2026-11-30-whose-message-is-this.md.
 */

/** A message of a reply. Without an id: somebody deleted it, and it stays deleted. */
export interface DrawnMessage {
  readonly id: string | undefined;
  readonly content: string;
}

/** A message of ours that is part of some turn's reply; notices and the answers of commands are none. */
export interface Chunk {
  readonly id: string;
  readonly content: string;
  /** The message that it replies to. */
  readonly replyTo: string | undefined;
}

/** The messages of a channel behind one of them, a page of at most 100. */
export interface ChannelPage {
  /** Ours among them, oldest first. */
  readonly chunks: readonly Chunk[];
  /** Where the next page begins; absent: there is none. */
  readonly next: string | undefined;
}

/** A look at a channel from the message that was asked on, page by page. */
export interface Reading {
  /** The message behind which the next page begins. */
  readonly after: string;
  readonly pages: number;
  /** What was found so far, oldest first. */
  readonly found: readonly Chunk[];
}

/** What comes later than this many pages behind a message is no part of its answer. */
const mostPages = 20;

/** Before the messages of a thread stands what it was opened on, whose id is the thread's. */
export function beginReading({ channel, message }: Place): Reading {
  return { after: message ?? channel, pages: 0, found: [] };
}

/** The reading with one more page; `isWhole`: what follows can't belong to the turn. */
export function readOn(
  reading: Reading,
  page: ChannelPage,
  place: Place,
): { readonly reading: Reading; readonly isWhole: boolean } {
  const found = [...reading.found, ...page.chunks];
  const pages = reading.pages + 1;
  const last = found.findLast(({ replyTo }) => replyTo !== undefined);
  const isPast = chunksOf(found, place).length > 0 && last?.replyTo !== place.message;
  return {
    reading: { after: page.next ?? reading.after, pages, found },
    isWhole: page.next === undefined || isPast || pages >= mostPages,
  };
}

/**
 * The messages of a turn, of ours behind the message that was asked on: those that reply to it, each with those without
 * a reply that follow it. In a new thread, whose starter stands elsewhere, it is those before the first reply.
 */
export function chunksOf(found: readonly Chunk[], { message }: Place): Chunk[] {
  let answered: string | undefined;
  return found.filter(({ replyTo }) => {
    answered = replyTo ?? answered;
    return answered === message;
  });
}

/**
 * What stands of a turn, from what is known of it and what was found. What is known keeps its place; what is new comes
 * behind it (too much of it is removed again). A message that is missing between others was deleted, and stays deleted.
 */
export function adopted(
  known: readonly DrawnMessage[],
  found: readonly Chunk[],
  place: Place,
  chunks: readonly string[],
): DrawnMessage[] {
  const contents = new Map(found.map(({ id, content }) => [id, content]));
  const before = known.map(({ id, content }) => ({ id, content: (id && contents.get(id)) ?? content }));
  const knownIds = new Set(known.map(({ id }) => id));
  const own = chunksOf(found, place);
  const missing = chunks.slice(known.length);
  // Its first message, or the message that it replied to, was deleted: then only its words tell.
  const candidates = own.length > 0 || known.length > 0 ? own : found.filter(isOneOf(missing));
  return [
    ...before,
    ...aligned(
      candidates.filter(({ id }) => !knownIds.has(id)),
      missing,
    ),
  ];
}

function isOneOf(chunks: readonly string[]): (chunk: Chunk) => boolean {
  return ({ replyTo, content }) => replyTo === undefined && chunks.includes(content);
}

/** Messages in their places; what is just what a later place wants, and no beginning of this one, has lost its neighbours. */
function aligned(messages: readonly Chunk[], chunks: readonly string[]): DrawnMessage[] {
  const placed: DrawnMessage[] = [];
  for (const { id, content } of messages) {
    const wanted = chunks[placed.length];
    const later = chunks.indexOf(content, placed.length);
    if (later > placed.length && !wanted?.startsWith(content)) {
      for (const gone of chunks.slice(placed.length, later)) placed.push({ id: undefined, content: gone });
    }
    placed.push({ id, content });
  }
  return placed;
}
