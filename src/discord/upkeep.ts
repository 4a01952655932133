import type { Client, Message } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import { isGone, isPermissionMissing } from "./discord-error.ts";
import { fromEdit } from "./from-discord.ts";
import type { GatewayNews } from "./gateway-news.ts";
import { sessionOf } from "./place.ts";
import type { RequestBudget } from "./request-budget.ts";
import { channelPlace, guildPlace } from "./whereabouts.ts";

export interface UpkeepPlan {
  readonly client: Client;
  readonly memory: Memory;
  readonly budget: RequestBudget;
  readonly log: Logger;
}

type NewsOf<Kind extends GatewayNews["news"]> = Extract<GatewayNews, { readonly news: Kind }>;

/** Keeps what is remembered true to what is there: edits, deletions, places that are gone. */
export class Upkeep {
  readonly #plan: UpkeepPlan;

  constructor(plan: UpkeepPlan) {
    this.#plan = plan;
  }

  /** Call it as soon as the news is heard: what is still being prepared is dealt with before anything else happens. */
  async take(news: Exclude<GatewayNews, NewsOf<"began" | "guild-out">>): Promise<void> {
    const { memory, log, client } = this.#plan;
    const me = client.user?.id ?? "";
    switch (news.news) {
      case "message-edited": {
        const message = await this.#read(news);
        if (message && (await memory.amend(fromEdit(message)))) log.debug({ message: news.message }, "reworded");
        return;
      }
      case "messages-deleted": {
        const sessions = await memory.erase(news.messages);
        if (sessions > 0) log.info({ messages: news.messages.length, sessions }, "deleted messages are forgotten");
        return;
      }
      case "thread-gone": {
        const { thread } = news;
        if (await memory.forget(sessionOf(thread))) log.info({ thread }, "a deleted thread is forgotten");
        return;
      }
      case "channel-gone": {
        const { channel } = news;
        const sessions = await memory.forgetPlace(channelPlace(me, channel));
        if (sessions > 0) log.info({ channel, sessions }, "a deleted channel is forgotten");
        return;
      }
      case "guild-left": {
        const { guild } = news;
        const sessions = await memory.forgetPlace(guildPlace(me, guild));
        log.info({ guild, sessions }, "a server that was left is forgotten");
      }
    }
  }

  /** The message as it is now: as discord.js has it, once it has read the same news, or else from Discord. */
  async #read({ channel, message, editedAt }: NewsOf<"message-edited">): Promise<Message | undefined> {
    const { client, budget } = this.#plan;
    // discord.js reads the packet when this one's listeners have returned.
    await undefined;
    const cached = client.channels.cache.get(channel);
    const known = cached?.isTextBased() ? cached.messages.cache.get(message) : undefined;
    if (known?.editedTimestamp === editedAt) return known;
    const place = cached ?? (await budget.run(`channel ${channel}`, () => client.channels.fetch(channel)));
    if (!place?.isTextBased()) return undefined;
    const fetchIt = () => place.messages.fetch({ message, force: true, cache: false });
    return budget.run(`messages of ${channel}`, fetchIt).catch((error) => {
      // It was deleted meanwhile, and that is news of its own; or it stands where the bot reads nothing back.
      if (!isGone(error) && !isPermissionMissing(error)) throw error;
      return undefined;
    });
  }
}
