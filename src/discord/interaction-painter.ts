import {
  type APIRequest,
  type ChatInputCommandInteraction,
  type InteractionDeferReplyOptions,
  MessageFlags,
  RESTEvents,
  RESTJSONErrorCodes,
  Routes,
} from "discord.js";
import type { Logger } from "../log.ts";
import type { Painter, ReplyView } from "../reply/reply-view.ts";
import { discordCode, isPassing } from "./discord-error.ts";

/**
 * Says within Discord's 3 seconds that a command was heard, which also claims it: of two processes only one gets
 * through. `false`: it is not ours, or too late; nothing may be done for it.
 */
export async function acknowledge(
  interaction: ChatInputCommandInteraction,
  { ephemeral, log }: { readonly ephemeral: boolean; readonly log: Logger },
): Promise<boolean> {
  const { rest } = interaction.client;
  const callback = Routes.interactionCallback(interaction.id, interaction.token);
  const options: InteractionDeferReplyOptions = ephemeral ? { flags: MessageFlags.Ephemeral } : {};
  let repeated = false;
  const onResponse = ({ path, retries }: APIRequest) => {
    if (path === callback && retries > 0) repeated = true;
  };
  rest.on(RESTEvents.Response, onResponse);
  try {
    await interaction.deferReply(options).catch((error: unknown) => {
      // discord.js repeats what failed, but not every request whose connection broke.
      if (repeated || !isPassing(error)) throw error;
      repeated = true;
      return interaction.deferReply(options);
    });
    return true;
  } catch (error) {
    const code = discordCode(error);
    if (code !== RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged) {
      log.warn({ command: interaction.commandName, code, err: error }, "a command could not be acknowledged");
      return false;
    }
    if (!repeated) return false;
    // It was our own first try that got through, and only its answer was lost.
    interaction.deferred = true;
    interaction.ephemeral = ephemeral;
    return true;
  } finally {
    rest.off(RESTEvents.Response, onResponse);
  }
}

/** Draws views as the answer of an acknowledged command: its reply, then follow-ups. Errors are logged. */
export class InteractionPainter implements Painter {
  readonly #interaction: ChatInputCommandInteraction;
  readonly #log: Logger;
  #answered = false;

  constructor(interaction: ChatInputCommandInteraction, log: Logger) {
    this.#interaction = interaction;
    this.#log = log;
  }

  async draw({ chunks, finished }: ReplyView): Promise<void> {
    // Until then Discord itself shows that the bot is at work on it.
    if (!finished) return;
    try {
      for (const content of chunks) await this.#say(content);
    } catch (error) {
      this.#log.warn({ code: discordCode(error), err: error }, "a command's answer could not be drawn");
    }
  }

  async #say(content: string): Promise<void> {
    const harmless = { allowedMentions: { parse: [], repliedUser: false } };
    if (this.#answered) {
      const ephemeral = this.#interaction.ephemeral ? MessageFlags.Ephemeral : 0;
      await this.#interaction.followUp({ ...harmless, content, flags: MessageFlags.SuppressEmbeds | ephemeral });
    } else {
      this.#answered = true;
      await this.#interaction.editReply({ ...harmless, content, flags: MessageFlags.SuppressEmbeds });
    }
  }
}
