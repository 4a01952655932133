import { InteractionContextType } from "discord.js";
import { replyViews } from "../../reply/reply-view.ts";
import { resetElsewhereWording } from "../../reply/wording.ts";
import { mayForget } from "../access.ts";
import { fromCommand } from "../from-discord.ts";
import { toReplyTo } from "../place.ts";
import type { Command } from "./command.ts";

export const reset: Command = {
  definition: {
    name: "reset",
    description: "Forget everything that was said in this thread and start anew",
    contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  },
  // Everybody who writes in the thread should know that it was forgotten.
  ephemeral: false,
  async *run(interaction, { conversation, budget }) {
    const privileged = await mayForget(interaction, budget);
    if (!privileged && !interaction.channel?.isThread()) {
      const replyTo = toReplyTo({ channel: interaction.channelId });
      yield { replyTo, chunks: [resetElsewhereWording], typing: false, finished: true };
      return;
    }
    yield* replyViews(conversation.handle(fromCommand(interaction, "reset", privileged)));
  },
};
