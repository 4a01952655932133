import { InteractionContextType } from "discord.js";
import type { TurnEvent } from "../../conversation/turn-event.ts";
import { replyViews } from "../../reply/reply-view.ts";
import { answerStaysWording, undoElsewhereWording } from "../../reply/wording.ts";
import { mayForget } from "../access.ts";
import { fromCommand } from "../from-discord.ts";
import { toReplyTo } from "../place.ts";
import { takeBack } from "../taken-back.ts";
import { linksTo } from "../undone.ts";
import type { Command } from "./command.ts";

export const undo: Command = {
  definition: {
    name: "undo",
    description: "Take back the last answer in this thread: I forget it, and what it answered",
    contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  },
  // Everybody who writes in the thread should know that it was forgotten.
  ephemeral: false,
  async *run(interaction, tools) {
    const { channel, channelId, guildId } = interaction;
    const privileged = await mayForget(interaction, tools.budget);
    if (!privileged && !channel?.isThread()) {
      yield {
        replyTo: toReplyTo({ channel: channelId }),
        chunks: [undoElsewhereWording],
        typing: false,
        finished: true,
      };
      return;
    }
    const lines: string[] = [];
    async function* withAnswerRemoved(events: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent, void> {
      for await (const event of events) {
        if (event.type === "notice" && event.reason === "undone") {
          const isGone = await removeAnswer(event.inputs.at(-1));
          const above = channel?.isThread() && !channel.parent?.isThreadOnly() ? channel.parentId : null;
          lines.push(
            ...(isGone ? [] : [answerStaysWording]),
            linksTo(event.inputs, { guild: guildId, channel: channelId, above }),
          );
        }
        yield event;
      }
    }
    // A turn replies to the last of what it answers.
    async function removeAnswer(asked: string | undefined): Promise<boolean> {
      if (asked === undefined) return true;
      // In an archived thread nothing can be removed.
      if (channel?.isThread() && channel.archived) await channel.setArchived(false).catch(() => undefined);
      return takeBack(channelId, asked, tools);
    }
    const events = tools.conversation.handle(fromCommand(interaction, "undo", privileged));
    for await (const view of replyViews(withAnswerRemoved(events))) {
      const said = view.turn === undefined ? lines.splice(0) : [];
      yield said.length === 0 ? view : { ...view, chunks: [[...view.chunks, ...said].join("\n")] };
    }
  },
};
