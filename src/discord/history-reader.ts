import {
  type Client,
  type GuildTextBasedChannel,
  type Message,
  PermissionFlagsBits,
  type TextBasedChannel,
} from "discord.js";
import type { Logger } from "../log.ts";
import type { RequestBudget } from "./request-budget.ts";
import { compareIds } from "./snowflake.ts";

export interface HistoryReaderPlan {
  readonly client: Client;
  readonly budget: RequestBudget;
  readonly log: Logger;
}

/** Discord gives no more at once. */
export const pageSize = 100;

/** Reads what stands in channels and threads, with requests that can wait. All throw what Discord answers. */
export class HistoryReader {
  readonly #plan: HistoryReaderPlan;

  constructor(plan: HistoryReaderPlan) {
    this.#plan = plan;
  }

  /** `undefined`: there is nothing to read there, or the bot may not. */
  async open(id: string): Promise<TextBasedChannel | undefined> {
    const { client, budget, log } = this.#plan;
    const known = client.channels.cache.get(id);
    const channel = known ?? (await budget.runCalmly(`channel ${id}`, () => client.channels.fetch(id)));
    if (!channel?.isTextBased()) return undefined;
    if (channel.isDMBased() || mayRead(channel)) return channel;
    log.debug({ channel: id }, "the bot may not read what was said in a place");
    return undefined;
  }

  /** The newest messages, or those before one; newest first. */
  async page(channel: TextBasedChannel, before?: string): Promise<Message[]> {
    const options = { limit: pageSize, cache: false, ...(before !== undefined && { before }) };
    const fetchPage = () => channel.messages.fetch(options);
    const page = await this.#plan.budget.runCalmly(`messages of ${channel.id}`, fetchPage);
    return [...page.values()].sort((one, other) => compareIds(other.id, one.id));
  }
}

/** Without the right to read it, a history looks empty. */
function mayRead(channel: GuildTextBasedChannel): boolean {
  const own = channel.permissionsFor(channel.client.user);
  return own?.has([PermissionFlagsBits.ViewChannel, PermissionFlagsBits.ReadMessageHistory]) ?? false;
}
