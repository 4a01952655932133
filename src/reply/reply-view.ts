import type { TurnEvent } from "../conversation/turn-event.ts";
import { safeText } from "./safe-text.ts";
import { emptySplit, growSplit, messageLimit, type Split, unsettledChunks } from "./split-text.ts";
import { errorWording, finishWording, noticeWording, summarisedWording, toolWording } from "./wording.ts";

/** Where a reply goes; the platform's own, opaque here. */
export type ReplyTo = Extract<TurnEvent, { type: "notice" }>["replyTo"];

/** What the reader sees of one turn or one notice: a value, drawn whole every time. */
export interface ReplyView {
  /** The turn that it shows; absent for what the bot says outside of any. */
  readonly turn?: string;
  /** What a notice is about: of several processes that say the same of the same place, one is heard. */
  readonly notice?: string;
  readonly replyTo: ReplyTo;
  /** The messages, in order; each 1 to 2,000 characters. */
  readonly chunks: readonly string[];
  /** Somebody is at work on it. */
  readonly typing: boolean;
  /** Somebody who is gone may have drawn some of it already. */
  readonly resumed?: true;
  /** Nothing will be added. */
  readonly finished: boolean;
}

/** Draws views. `draw` keeps the newest and returns; the draw of a finished view resolves when it is out. */
export interface Painter {
  draw(view: ReplyView): Promise<void>;
}

/** A reply in the making: its view, and what the next view needs. */
interface Reply {
  readonly view: ReplyView;
  readonly said: Split;
  /** Its settled messages as they are shown: made once, since a view comes with every token. */
  readonly settled: readonly string[];
  /** Tools at work, by their calls. */
  readonly tools: ReadonlyMap<string, string>;
}

const noReply: Reply = {
  view: { replyTo: null, chunks: [], typing: false, finished: true },
  said: emptySplit(),
  settled: [],
  tools: new Map(),
};

/**
 * What the reader sees of what happens: one view per change. A turn's last view is `finished`, unless its run was
 * taken away. Pulling past a finished view says that it has been drawn; only then is the source pulled further.
 */
export async function* replyViews(events: AsyncIterable<TurnEvent>): AsyncGenerator<ReplyView, void> {
  let reply = noReply;
  for await (const event of events) {
    const before = reply.view;
    reply = reduceReply(reply, event);
    if (reply.view !== before) yield reply.view;
  }
}

function reduceReply(reply: Reply, event: TurnEvent): Reply {
  switch (event.type) {
    case "turn-start": {
      const { turn, replyTo = null, resumed } = event;
      const view = { turn, replyTo, chunks: [], typing: true, finished: false, ...(resumed && { resumed }) };
      return { ...noReply, view };
    }
    case "text-delta":
      return atWork(saying(reply, growSplit(reply.said, event.text)));
    case "tool-start":
      return atWork({ ...reply, tools: new Map(reply.tools).set(event.callId, event.name) });
    case "tool-end":
      return atWork({ ...reply, tools: new Map([...reply.tools].filter(([callId]) => callId !== event.callId)) });
    case "turn-end": {
      const whole = saying(noReply, growSplit(emptySplit(), event.text));
      return finished({ ...whole, view: reply.view }, finishWording(event.finishReason));
    }
    case "turn-failed":
      return finished(reply, errorWording(event.error, event.reference));
    case "notice":
      return aside(
        "error" in event ? `${event.reason} ${event.error.code}` : event.reason,
        event.replyTo,
        noticeWording(event),
      );
    case "summarised":
      return aside(event.type, event.replyTo ?? null, summarisedWording(event.older));
  }
}

/** A word of the bot's own outside of any turn. */
function aside(notice: string, replyTo: ReplyTo, text: string): Reply {
  return { ...noReply, view: { notice, replyTo, chunks: [text], typing: false, finished: true } };
}

function saying(reply: Reply, said: Split): Reply {
  const more = said.settled.slice(reply.settled.length).map(safeText);
  return { ...reply, said, settled: [...reply.settled, ...more] };
}

function atWork(reply: Reply): Reply {
  const tool = [...reply.tools.values()].at(-1);
  const messages = messagesOf(reply);
  const withTool = tool === undefined ? messages : withLine(messages, toolWording(tool));
  // Where there is no room for it, the line would be a message of its own, which would have to go away again.
  const chunks = withTool.length > Math.max(messages.length, 1) ? messages : withTool;
  return sameTexts(chunks, reply.view.chunks) ? reply : { ...reply, view: { ...reply.view, chunks } };
}

function finished(reply: Reply, line: string | undefined): Reply {
  const messages = messagesOf(reply);
  const chunks = line === undefined ? messages : withLine(messages, line);
  return { ...reply, view: { ...reply.view, chunks, typing: false, finished: true } };
}

function messagesOf({ said, settled }: Reply): string[] {
  return [...settled, ...unsettledChunks(said).map(safeText)];
}

/** The bot's own line below the last message, or as one of its own where that is full. */
function withLine(messages: readonly string[], line: string): string[] {
  const last = messages.at(-1);
  if (last === undefined) return [line];
  const together = `${last}\n\n${line}`;
  return together.length > messageLimit ? [...messages, line] : [...messages.slice(0, -1), together];
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}
