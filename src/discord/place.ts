import type { Inbound } from "../conversation/inbound.ts";

/** Where an answer goes on Discord. It travels as the opaque `replyTo` of an inbound, through the store and back. */
export interface Place {
  /** A channel, a thread or a direct conversation. */
  readonly channel: string;
  /** The message in that channel that the answer replies to; absent in a new thread, whose starter stands elsewhere. */
  readonly message?: string;
}

type ReplyTo = Inbound["replyTo"];

export function toReplyTo({ channel, message }: Place): ReplyTo {
  return message === undefined ? { channel } : { channel, message };
}

/** `undefined` for what is no place of ours: a session that was used without Discord. */
export function toPlace(replyTo: ReplyTo | undefined): Place | undefined {
  if (typeof replyTo !== "object" || replyTo === null || Array.isArray(replyTo)) return undefined;
  const { channel, message } = replyTo as { readonly channel?: unknown; readonly message?: unknown };
  if (typeof channel !== "string") return undefined;
  return typeof message === "string" ? { channel, message } : { channel };
}

/** The session of a thread (or of a direct conversation): a pure function, so that no mapping can go stale. */
export function sessionOf(channel: string): string {
  return `discord:${channel}`;
}

/** The other way round; `undefined` for a session that is none of Discord's. */
export function channelOf(sessionId: string): string | undefined {
  return /^discord:(\d{1,20})$/.exec(sessionId)?.[1];
}
