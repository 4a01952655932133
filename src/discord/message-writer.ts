import { type Client, MessageFlags, type RESTPostAPIChannelMessageJSONBody, Routes } from "discord.js";
import type { Place } from "./place.ts";

/** What goes with every message, on send and on edit: the model's words ping nobody and unfurl nothing. */
const harmless = {
  allowed_mentions: { parse: [], replied_user: false },
  flags: MessageFlags.SuppressEmbeds,
} satisfies RESTPostAPIChannelMessageJSONBody;

/** Sends, edits and deletes the bot's messages: one request each, by address, whether the channel is known or not. */
export interface MessageWriter {
  /**
   * Resolves to the message's id.
   * @param nonce at most 25 characters; a repeated send with the same one does not make a second message
   * @param reply whether it is a reply to the place's message
   */
  send(place: Place, content: string, options: { readonly nonce: string; readonly reply: boolean }): Promise<string>;
  edit(channel: string, message: string, content: string): Promise<void>;
  remove(channel: string, message: string): Promise<void>;
  showTyping(channel: string): Promise<void>;
}

export function createMessageWriter({ rest }: Pick<Client, "rest">): MessageWriter {
  return {
    async send({ channel, message }, content, { nonce, reply }) {
      const body: RESTPostAPIChannelMessageJSONBody = { ...harmless, content, nonce, enforce_nonce: true };
      if (reply && message !== undefined) body.message_reference = { message_id: message, fail_if_not_exists: false };
      const sent = (await rest.post(Routes.channelMessages(channel), { body })) as { readonly id: string };
      return sent.id;
    },
    async edit(channel, message, content) {
      await rest.patch(Routes.channelMessage(channel, message), { body: { ...harmless, content } });
    },
    async remove(channel, message) {
      await rest.delete(Routes.channelMessage(channel, message));
    },
    async showTyping(channel) {
      await rest.post(Routes.channelTyping(channel));
    },
  };
}
