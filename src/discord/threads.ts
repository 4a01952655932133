import { type Message, RESTJSONErrorCodes, type RESTPostAPIChannelThreadsJSONBody, Routes } from "discord.js";
import type { Prepared } from "../conversation/inbound.ts";
import type { Logger } from "../log.ts";
import type { Complaints } from "./complaints.ts";
import { readContext, readQuoted } from "./context.ts";
import { discordCode, isPermissionMissing, isTooManyThreads, toOurError } from "./discord-error.ts";
import type { Ground, MessageInbound } from "./from-discord.ts";
import { missingPermissions, permissionMissing } from "./permissions.ts";
import { sessionOf, toReplyTo } from "./place.ts";
import type { RequestBudget } from "./request-budget.ts";
import { threadName } from "./thread-name.ts";

export interface ThreadsPlan {
  readonly budget: RequestBudget;
  readonly log: Logger;
  readonly complaints: Complaints;
}

/** A message that is a turn, and where it is held. */
export interface Addressed {
  readonly message: Message;
  readonly ground: Ground;
  readonly inbound: MessageInbound;
}

/** Makes the ground of a turn ready: opens its thread, or reads what was said before. */
export class Threads {
  readonly #plan: ThreadsPlan;

  constructor(plan: ThreadsPlan) {
    this.#plan = plan;
  }

  /** @throws ThreadkeeperError `DISCORD_PERMISSION_MISSING`, `DISCORD_UNREACHABLE`, `DISCORD_FAILED` */
  async prepare({ message, ground, inbound }: Addressed, signal?: AbortSignal): Promise<Prepared> {
    try {
      if (ground === "new-thread") return await this.#open(message, inbound, signal);
      if (ground === "foreign" && !message.channel.isDMBased()) {
        return { context: await readContext(message.channel, this.#plan.budget, message.id) };
      }
      return {};
    } catch (error) {
      if (isPermissionMissing(error)) throw permissionMissing(missingPermissions(message, ground), error);
      throw toOurError(error, `Discord did not let the bot answer in channel ${message.channelId}`);
    }
  }

  async #open(message: Message, { text, author }: MessageInbound, signal?: AbortSignal): Promise<Prepared> {
    const body: RESTPostAPIChannelThreadsJSONBody = { name: threadName(text, author.name) };
    const request = { body, ...(signal && { signal }) };
    const { rest } = message.client;
    const replyTo = toReplyTo({ channel: message.id });
    // Now, while it is known: others write on in the channel.
    const quoted = readQuoted(message);
    try {
      await this.#plan.budget.run(`threads of ${message.channelId}`, () => {
        // Whoever called may have been told by now that it took too long.
        signal?.throwIfAborted();
        return rest.post(Routes.threads(message.channelId, message.id), request);
      });
      return { replyTo, context: quoted };
    } catch (error) {
      if (isTooManyThreads(error)) {
        this.#plan.complaints.tooManyThreads(message);
        // Commands that are given in the channel are for the channel's session.
        return { sessionId: sessionOf(message.channelId), context: quoted };
      }
      if (discordCode(error) !== RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage) throw error;
      return { replyTo, context: [...quoted, ...(await this.#contextOfExisting(message))] };
    }
  }

  /** The thread is there already: ours by an earlier delivery, or somebody else's, where things may have been said. */
  async #contextOfExisting({ client, id }: Message): Promise<NonNullable<Prepared["context"]>> {
    const { budget } = this.#plan;
    const thread =
      client.channels.cache.get(id) ?? (await budget.run(`channel ${id}`, () => client.channels.fetch(id)));
    if (!thread?.isThread() || thread.ownerId === client.user.id) return [];
    return readContext(thread, budget);
  }
}
