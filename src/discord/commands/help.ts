import { InteractionContextType } from "discord.js";
import { splitText } from "../../reply/split-text.ts";
import { toReplyTo } from "../place.ts";
import type { Command } from "./command.ts";

export const help: Command = {
  definition: {
    name: "help",
    description: "What this bot can do",
    contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  },
  ephemeral: true,
  async *run(interaction, { commands, modelName }) {
    const list = commands.map(({ definition }) => `- \`/${definition.name}\`: ${definition.description}`);
    const text = [
      `Mention me (<@${interaction.client.user.id}>) in a channel and I open a thread on your message. In that thread every message is for me, without a mention, and I remember all of it, also after a restart.`,
      "In a thread that somebody else opened I answer mentions and replies to me. In a direct message I answer everything.",
      "While I am at work, write on: what comes in the meantime is answered next.",
      ["**Commands**", ...list].join("\n"),
      "`/reset` is for who opened the thread, `/stop` for who asked; both for those who may manage threads.",
      ...(modelName === undefined ? [] : [`The answers are written by ${modelName}. They can be wrong.`]),
    ].join("\n\n");
    const replyTo = toReplyTo({ channel: interaction.channelId });
    yield { replyTo, chunks: splitText(text), typing: false, finished: true };
  },
};
