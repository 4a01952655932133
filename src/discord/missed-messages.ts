import type { Message } from "discord.js";
import type { Memory } from "../conversation/memory.ts";
import type { Logger } from "../log.ts";
import { isChannelGone, isPermissionMissing } from "./discord-error.ts";
import { fromEdit } from "./from-discord.ts";
import { goneMessages } from "./gone-messages.ts";
import { type HistoryReader, pageSize } from "./history-reader.ts";
import { sessionOf } from "./place.ts";
import { compareIds } from "./snowflake.ts";

export interface MissedMessagesPlan {
  readonly memory: Memory;
  readonly reader: HistoryReader;
  /** Whether a message of earlier can still want an answer. */
  readonly isUnanswered: (message: Message) => boolean;
  readonly log: Logger;
}

/** A conversation that is known, by its channel or thread and by its session. */
export interface KnownPlace {
  readonly channel: string;
  readonly sessionId: string;
}

/** So far back a channel is read in which everybody talks. */
const mostPages = 5;

/** What was said to the bot in one place while it did not listen. What goes wrong in one place is logged, and stays there. */
export class MissedMessages {
  readonly #plan: MissedMessagesPlan;
  #erasedIn = 0;
  readonly #gone = new Set<string>();

  constructor(plan: MissedMessagesPlan) {
    this.#plan = plan;
  }

  /** In how many sessions something was erased. */
  get erasedIn(): number {
    return this.#erasedIn;
  }

  /** The channels and threads that were found to be gone. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** Messages in a channel that no session knows, from this id on, oldest first; of very many the newest. */
  async inChannel(id: string, from: string): Promise<Message[]> {
    const { reader, isUnanswered, memory } = this.#plan;
    const messages: Message[] = [];
    const missed: Message[] = [];
    await this.#look(id, async () => {
      const channel = await reader.open(id);
      for (let number = 0; channel && number < mostPages; number += 1) {
        const page = await reader.page(channel, messages.at(-1)?.id);
        const young = page.filter((message) => compareIds(message.id, from) >= 0);
        messages.push(...young);
        if (young.length < pageSize) break;
      }
      for (const message of messages.filter(isUnanswered).reverse()) {
        // Its thread has its id. Whatever else is known is found out at the door, but not before the thread is asked for.
        const { waiting, said } = await memory.heard(sessionOf(message.id));
        if (!waiting.includes(message.id) && !said.includes(message.id)) missed.push(message);
      }
    });
    return missed;
  }

  /**
   * Messages on the last page of a known conversation that its session does not know, from this id on, oldest first.
   * What the session knows and is gone from the page is erased, what waits and was edited is reworded; a conversation
   * whose place is gone is forgotten.
   */
  async inConversation({ channel: id, sessionId }: KnownPlace, from: string): Promise<Message[]> {
    const { memory, reader, isUnanswered } = this.#plan;
    let missed: Message[] = [];
    const onGone = async () => {
      this.#gone.add(id);
      await memory.forget(sessionId);
    };
    await this.#look(
      id,
      async () => {
        const channel = await reader.open(id);
        if (!channel) return;
        // Before the page is read: what comes in between is not on it, and not gone either.
        const { waiting, said, nearby } = await memory.heard(sessionId);
        const page = await reader.page(channel);
        const ids = page.map((message) => message.id);
        const gone = goneMessages([...waiting, ...said, ...nearby], {
          channel: id,
          ids,
          isWhole: page.length < pageSize,
        });
        if (gone.length > 0) this.#erasedIn += await memory.erase(gone);
        for (const message of page) {
          const isReworded = message.editedTimestamp && waiting.includes(message.id);
          if (isReworded) await memory.amend(fromEdit(message));
        }
        const known = new Set([...waiting, ...said]);
        const isMissed = (message: Message) => compareIds(message.id, from) >= 0 && !known.has(message.id);
        missed = page.filter((message) => isMissed(message) && isUnanswered(message)).reverse();
      },
      onGone,
    );
    return missed;
  }

  async #look(channel: string, look: () => Promise<void>, onGone?: () => Promise<void>): Promise<void> {
    try {
      await look().catch((error) => {
        if (!isChannelGone(error) || !onGone) throw error;
        return onGone();
      });
    } catch (error) {
      const level = isPermissionMissing(error) || isChannelGone(error) ? "debug" : "warn";
      this.#plan.log[level]({ channel, err: error }, "what was said in a place could not be read");
    }
  }
}
