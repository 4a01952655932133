import { type ChatInputCommandInteraction, MessageFlags, RESTJSONErrorCodes } from "discord.js";
import type { Logger } from "../log.ts";
import type { Painter, ReplyView } from "../reply/reply-view.ts";
import { discordCode } from "./discord-error.ts";

/**
 * Says within Discord's 3 seconds that a command was heard, which also claims it: of two processes only one gets
 * through. `false`: it is not ours, or too late; nothing may be done for it.
 */
export async function acknowledge(
  interaction: ChatInputCommandInteraction,
  options: { readonly ephemeral: boolean; readonly log: Logger },
): Promise<boolean> {
  try {
    await interaction.deferReply(options.ephemeral ? { flags: MessageFlags.Ephemeral } : {});
    return true;
  } catch (error) {
    const code = discordCode(error);
    if (code !== RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged) {
      options.log.warn({ command: interaction.commandName, code, err: error }, "a command could not be acknowledged");
    }
    return false;
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
