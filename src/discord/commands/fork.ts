import { InteractionContextType } from "discord.js";
import { replyViews } from "../../reply/reply-view.ts";
import { forkElsewhereWording } from "../../reply/wording.ts";
import { mayForget } from "../access.ts";
import { ForkedThread, isForkable } from "../forks.ts";
import { fromCommand } from "../from-discord.ts";
import { sessionOf, toPlace, toReplyTo } from "../place.ts";
import type { Command } from "./command.ts";

export const fork: Command = {
  definition: {
    name: "fork",
    description: "Open another thread that begins with what I remember of this one",
    contexts: [InteractionContextType.Guild, InteractionContextType.BotDM],
  },
  // Everybody who writes in the thread should find the other one.
  ephemeral: false,
  async *run(interaction, tools) {
    const { channel, channelId } = interaction;
    if (!isForkable(channel)) {
      const replyTo = toReplyTo({ channel: channelId });
      yield { replyTo, chunks: [forkElsewhereWording], typing: false, finished: true };
      return;
    }
    const privileged = await mayForget(interaction, tools.budget);
    const thread = new ForkedThread(interaction, channel, tools);
    const open = async (signal: AbortSignal) => {
      const id = await thread.open(signal);
      return { sessionId: sessionOf(id), replyTo: toReplyTo({ channel: id }) };
    };
    const events = tools.conversation.handle(fromCommand(interaction, "fork", privileged), open);
    for await (const event of events) {
      const to = event.type === "notice" && event.reason === "forked" ? toPlace(event.to) : undefined;
      await (to ? thread.introduce() : thread.discard());
      for await (const view of replyViews(once(event))) {
        yield to ? { ...view, chunks: [`${view.chunks.join("\n")} <#${to.channel}>`] } : view;
      }
    }
  },
};

async function* once<T>(value: T): AsyncGenerator<T, void> {
  yield value;
}
