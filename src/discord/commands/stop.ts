import { InteractionContextType } from "discord.js";
import { replyViews } from "../../reply/reply-view.ts";
import { managesThreads } from "../access.ts";
import { fromCommand } from "../from-discord.ts";
import type { Command } from "./command.ts";

export const stop: Command = {
  definition: {
    name: "stop",
    description: "Stop the answer that is being written; what was said so far is kept",
    contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  },
  // The answer itself shows that it was stopped.
  ephemeral: true,
  async *run(interaction, { conversation }) {
    // A direct conversation is that person's own.
    const privileged = !interaction.inGuild() || managesThreads(interaction);
    yield* replyViews(conversation.handle(fromCommand(interaction, "stop", privileged)));
  },
};
