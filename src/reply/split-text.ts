import { cutPosition } from "./cut.ts";
import { beginsToClose, closedBy, closingOf, endingOf, type Fence, longestClosing, openingLine } from "./fence.ts";

/** What Discord takes: https://discord.com/developers/docs/resources/message#create-message */
export const messageLimit = 2000;

/** A text that may still grow, cut into messages as far as that is settled. */
export interface Split {
  readonly limit: number;
  /** Messages that no further text can change. */
  readonly settled: readonly string[];
  /** What is not in them yet. */
  readonly rest: string;
  /** The fence that is open where `rest` begins. */
  readonly fence: Fence | undefined;
}

/**
 * Cuts a text into messages of at most `limit` UTF-16 code units. (Discord counts code points, of which there are
 * never more: https://github.com/discord/discord-api-docs/issues/1315.)
 *
 * - Fenced code that goes on in the next message is closed at the end of one and opened again, with its language, at
 *   the beginning of the next; a fence in which nothing stands is not shown at a cut or at the end.
 * - White space around a cut and at both ends is left out, but for the indentation of a line of code.
 * - **All messages but the last of any beginning of a text are messages of the whole text**, and there are never
 *   fewer of them, so that nothing moves that was sent while the text was growing. It holds because a cut is
 *   looked for only once the text has outgrown the message, and then only in the shortest beginning that has.
 */
export function splitText(text: string, limit = messageLimit): string[] {
  const split = growSplit(emptySplit(limit), text);
  return [...split.settled, ...unsettledChunks(split)];
}

/** `limit` at least 200, so that there is room for fences. */
export function emptySplit(limit = messageLimit): Split {
  return { limit, settled: [], rest: "", fence: undefined };
}

/** The same as if the text had been longer from the beginning. */
export function growSplit(split: Split, more: string): Split {
  const settled = [...split.settled];
  let left = split.rest + more;
  let fenceAtLeft = split.fence;
  for (;;) {
    const { rest, fence } = advance(left, fenceAtLeft);
    const length = shortestOverflow(rest, fence, split.limit);
    if (length === undefined) return { limit: split.limit, settled, rest: left, fence: fenceAtLeft };
    const cut = cutPosition(rest.slice(0, length), fence);
    const shown = show(rest.slice(0, cut), fence, { cut: true });
    fenceAtLeft = shown.fence;
    // Without a message: white space inside of a block that is longer than a message.
    left = rest.slice(shown.message === "" ? cut : shown.length);
    if (shown.message !== "") settled.push(shown.message);
  }
}

/** The message in the making, if it says anything yet. */
export function unsettledChunks(split: Split): string[] {
  const { rest, fence } = advance(split.rest, split.fence);
  const { message } = show(rest, fence);
  return message === "" ? [] : [message];
}

interface Shown {
  readonly message: string;
  /** How much of the text is in it. */
  readonly length: number;
  /** The fence that is open behind it. */
  readonly fence: Fence | undefined;
}

/** How the beginning `text` of what is left looks as a message; `cut`: when it is known that the rest is another's. */
function show(text: string, fence: Fence | undefined, { cut } = { cut: false }): Shown {
  const body = text.trimEnd();
  if (body === "" || (fence && ((!cut && beginsToClose(body, fence)) || closedBy(body, fence)))) {
    return { message: "", length: 0, fence: fence && closedBy(body, fence) ? undefined : fence };
  }
  const ending = endingOf(body, fence);
  if (ending.emptyFrom) return show(body.slice(0, ending.emptyFrom), fence, { cut });
  const message = openingLine(fence) + body + closingOf(ending, { cut });
  return { message, length: body.length, fence: ending.fence };
}

/** Leaves out the white space at the beginning of what is left, and a line that closes what is closed already. */
function advance(text: string, fence: Fence | undefined): { rest: string; fence: Fence | undefined } {
  const blank = text.length - text.trimStart().length;
  if (!fence) return { rest: text.slice(blank), fence };
  const indented = blank === 0 ? 0 : text.lastIndexOf("\n", blank - 1) + 1;
  const rest = text.slice(indented || blank);
  const end = rest.indexOf("\n");
  if (end < 0 || !closedBy(rest.slice(0, end), fence)) return { rest, fence };
  return advance(rest.slice(end), undefined);
}

/** The length of the shortest beginning that is too long for one message. */
function shortestOverflow(rest: string, fence: Fence | undefined, limit: number): number | undefined {
  for (let length = limit - openingLine(fence).length - longestClosing + 1; length <= rest.length; length += 1) {
    if (rest.charAt(length - 1).trim() === "") continue;
    if (show(rest.slice(0, length), fence).message.length > limit) return length;
  }
  return undefined;
}
