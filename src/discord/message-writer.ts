import {
  type APIMessage,
  type Client,
  MessageFlags,
  MessageType,
  type RESTPostAPIChannelMessageJSONBody,
  Routes,
} from "discord.js";
import type { ChannelPage, Chunk } from "./adoption.ts";
import type { Place } from "./place.ts";

/** What goes with every message, on send and on edit: it pings nobody. */
const harmless = { allowed_mentions: { parse: [], replied_user: false } } satisfies RESTPostAPIChannelMessageJSONBody;
/** The model's words unfurl nothing, which also tells them from our own: those hold no link, and go without. */
const chunkFlags = MessageFlags.SuppressEmbeds;
const pageSize = 100;

export interface SendOptions {
  /** At most 25 characters; a repeated send with the same one does not make a second message. */
  readonly nonce: string;
  /** Whether it is a reply to the place's message. */
  readonly reply: boolean;
  /** Part of a turn's reply, or a sentence of our own beside it, which must never be taken for one. */
  readonly kind: "chunk" | "notice";
  readonly signal?: AbortSignal;
}

/** Sends, edits, deletes and reads the bot's messages: one request each, by address, whether the channel is known or not. */
export interface MessageWriter {
  /** Resolves to the message as it was sent first, if it was sent before. */
  send(place: Place, content: string, options: SendOptions): Promise<{ readonly id: string; readonly content: string }>;
  /** A chunk, never a notice. */
  edit(channel: string, message: string, content: string, signal?: AbortSignal): Promise<void>;
  remove(channel: string, message: string, signal?: AbortSignal): Promise<void>;
  /** The chunks that the bot has in a channel behind a message. */
  read(channel: string, after: string, signal?: AbortSignal): Promise<ChannelPage>;
  showTyping(channel: string): Promise<void>;
}

/** @param client not read before it is needed: who the bot is stands there once it is logged in */
export function createMessageWriter(client: Pick<Client, "rest" | "user">): MessageWriter {
  const { rest } = client;
  return {
    async send({ channel, message }, content, { nonce, reply, kind, signal }) {
      const body: RESTPostAPIChannelMessageJSONBody = { ...harmless, content, nonce, enforce_nonce: true };
      if (kind === "chunk") body.flags = chunkFlags;
      if (reply && message !== undefined) body.message_reference = { message_id: message, fail_if_not_exists: false };
      const sent = (await rest.post(Routes.channelMessages(channel), { body, ...abortable(signal) })) as APIMessage;
      // Discord trims; what it says otherwise was sent before.
      return { id: sent.id, content: sent.content === content.trim() ? content : sent.content };
    },
    async edit(channel, message, content, signal) {
      const body = { ...harmless, content, flags: chunkFlags };
      await rest.patch(Routes.channelMessage(channel, message), { body, ...abortable(signal) });
    },
    async remove(channel, message, signal) {
      await rest.delete(Routes.channelMessage(channel, message), abortable(signal));
    },
    async read(channel, after, signal) {
      const query = new URLSearchParams({ after, limit: String(pageSize) });
      const page = (await rest.get(Routes.channelMessages(channel), { query, ...abortable(signal) })) as APIMessage[];
      // Discord gives the newest first.
      const chunks = page.filter((message) => isChunk(message, client.user?.id)).map(toChunk);
      return { chunks: chunks.reverse(), next: page.length < pageSize ? undefined : page[0]?.id };
    },
    async showTyping(channel) {
      await rest.post(Routes.channelTyping(channel));
    },
  };
}

/** Each request has a signal of its own: discord.js never takes off what it has listening to one. */
function abortable(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal: AbortSignal.any([signal]) } : {};
}

/** What a command answers came by a webhook; what Discord writes in our name is of another type. */
function isChunk({ author, type, webhook_id, flags }: APIMessage, me: string | undefined): boolean {
  const isSaid = type === MessageType.Default || type === MessageType.Reply;
  return isSaid && author.id === me && webhook_id === undefined && ((flags ?? 0) & chunkFlags) !== 0;
}

function toChunk({ id, content, message_reference }: APIMessage): Chunk {
  return { id, content, replyTo: message_reference?.message_id };
}
