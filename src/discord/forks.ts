import {
  type APIChannel,
  ChannelType,
  type ChatInputCommandInteraction,
  type PublicThreadChannel,
  Routes,
} from "discord.js";
import { ThreadkeeperError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { forkedWording, forkFailedWording } from "../reply/wording.ts";
import { isPermissionMissing, isTooManyThreads, toOurError } from "./discord-error.ts";
import type { MessageWriter } from "./message-writer.ts";
import { missingForThread, permissionMissing } from "./permissions.ts";
import type { RequestBudget } from "./request-budget.ts";
import { forkName } from "./thread-name.ts";

export interface ForkTools {
  readonly writer: MessageWriter;
  readonly budget: RequestBudget;
  readonly log: Logger;
}

/** A thread whose memory can be carried over: what begins with it is seen by nobody else than who sees this one. */
export function isForkable(channel: ChatInputCommandInteraction["channel"]): channel is PublicThreadChannel {
  return channel?.isThread() === true && channel.type !== ChannelType.PrivateThread && channel.parentId !== null;
}

/** The thread that a /fork opens beside the one in which it was given. */
export class ForkedThread {
  readonly #interaction: ChatInputCommandInteraction;
  readonly #from: PublicThreadChannel;
  readonly #tools: ForkTools;
  #id: string | undefined;

  constructor(interaction: ChatInputCommandInteraction, from: PublicThreadChannel, tools: ForkTools) {
    this.#interaction = interaction;
    this.#from = from;
    this.#tools = tools;
  }

  /** @throws ThreadkeeperError `DISCORD_PERMISSION_MISSING`, `DISCORD_TOO_MANY_THREADS`, `DISCORD_UNREACHABLE`, `DISCORD_FAILED` */
  async open(signal: AbortSignal): Promise<string> {
    const { name, parentId, guildId, autoArchiveDuration, appliedTags, type } = this.#from;
    const missing = missingForThread(this.#from);
    if (missing.length > 0) throw permissionMissing(missing);
    const about = { name: forkName(name), auto_archive_duration: autoArchiveDuration };
    // A forum's post begins with a message; elsewhere it is said once the memory is there.
    const message = { content: this.#beginning, allowed_mentions: { parse: [] } };
    const body = this.#isPost ? { ...about, message, applied_tags: appliedTags } : { ...about, type };
    const { rest } = this.#interaction.client;
    try {
      const opened = await this.#tools.budget.run(`threads of ${parentId}`, () => {
        signal.throwIfAborted();
        return rest.post(Routes.threads(parentId ?? ""), { body, signal });
      });
      this.#id = (opened as APIChannel).id;
      return this.#id;
    } catch (error) {
      if (isTooManyThreads(error)) {
        throw new ThreadkeeperError(
          "DISCORD_TOO_MANY_THREADS",
          `server ${guildId} has as many active threads as Discord allows; archive some`,
          { cause: error },
        );
      }
      if (isPermissionMissing(error)) throw permissionMissing([], error);
      throw toOurError(error, `Discord did not let the bot open a thread in channel ${parentId}`);
    }
  }

  /** Says in it where its memory comes from. What fails is logged: the memory is there all the same. */
  async introduce(): Promise<void> {
    if (this.#isPost) return;
    await this.#attempt("a forked thread could not be introduced", (id) => this.#say(id, this.#beginning));
  }

  /** The memory could not be carried over. Where the bot may not delete its own thread, it says so in it and archives it. */
  async discard(): Promise<void> {
    const { rest } = this.#interaction.client;
    await this.#attempt("a thread that was opened in vain could not be put away", async (id) => {
      try {
        await rest.delete(Routes.channel(id));
      } catch (error) {
        if (!isPermissionMissing(error)) throw error;
        await this.#say(id, forkFailedWording);
        await rest.patch(Routes.channel(id), { body: { archived: true } });
      }
    });
  }

  get #isPost(): boolean {
    return this.#from.parent?.type === ChannelType.GuildForum || this.#from.parent?.type === ChannelType.GuildMedia;
  }

  get #beginning(): string {
    return forkedWording({ by: `<@${this.#interaction.user.id}>`, from: `<#${this.#from.id}>` });
  }

  async #say(id: string, content: string): Promise<void> {
    const nonce = `f${this.#interaction.id}`;
    await this.#tools.writer.send({ channel: id }, content, { nonce, reply: false, kind: "notice" });
  }

  async #attempt(failure: string, request: (id: string) => Promise<void>): Promise<void> {
    const id = this.#id;
    if (id === undefined) return;
    try {
      await this.#tools.budget.run(`channel ${id}`, () => request(id));
    } catch (error) {
      this.#tools.log.warn({ channel: id, err: error }, failure);
    }
  }
}
