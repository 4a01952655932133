import { InteractionContextType } from "discord.js";
import { splitText } from "../../reply/split-text.ts";
import { helpWording } from "../../reply/wording.ts";
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
    const mention = `<@${interaction.client.user.id}>`;
    const text = helpWording({ mention, commands: commands.map(({ definition }) => definition), modelName });
    const replyTo = toReplyTo({ channel: interaction.channelId });
    yield { replyTo, chunks: splitText(text), typing: false, finished: true };
  },
};
