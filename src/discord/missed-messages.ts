import { type Message, MessageType } from "discord.js";
import type { Heard, Memory } from "../conversation/memory.ts";
import { hasCode } from "../errors.ts";
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
  /** The session that would answer a message of earlier; `undefined`: it wants no answer any more. */
  readonly sessionAsked: (message: Message) => string | undefined;
  /** The first id that nobody listened to. */
  readonly since: string;
  /** The first id that is not too old to be answered. */
  readonly oldest: string;
  readonly log: Logger;
}

/** So far back a place is read in which everybody talks. */
const mostPages = 5;
const nothing: Heard = { waiting: [], said: [], nearby: [] };

/** What was said to the bot while it did not listen. What goes wrong in one place is logged, and stays there. */
export class MissedMessages {
  readonly #plan: MissedMessagesPlan;
  #erasedIn = 0;
  readonly #gone = new Set<string>();
  readonly #unread = new Set<string>();

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

  /** The channels and threads that another try may be able to read. */
  get unread(): ReadonlySet<string> {
    return this.#unread;
  }

  /**
   * What no session knows of a place, oldest first; of very much the newest. If the place is itself a conversation that
   * is known, that is also what its session missed at other times; what the session knows and is gone from the last page
   * is erased, what waits and was edited is reworded, and with its place the session is forgotten.
   */
  async in(id: string, isKnown: boolean): Promise<Message[]> {
    const missed: Message[] = [];
    try {
      await this.#look(id, isKnown, missed);
    } catch (error) {
      if (isKnown && isChannelGone(error)) await this.#forget(id);
      else this.#fail(id, error);
    }
    return missed;
  }

  async #look(id: string, isKnown: boolean, missed: Message[]): Promise<void> {
    const { memory, reader, sessionAsked, since, oldest } = this.#plan;
    const channel = await reader.open(id);
    if (!channel) return;
    const own = sessionOf(id);
    // Before the page is read: what comes in between is not on it, and not gone either.
    const { waiting, said, nearby } = isKnown ? await memory.heard(own) : nothing;
    const page = await reader.page(channel);
    const ids = page.map((message) => message.id);
    const lastPage = { channel: id, ids, isWhole: page.length < pageSize };
    const gone = goneMessages([...waiting, ...said, ...nearby], lastPage);
    if (gone.length > 0) this.#erasedIn += await memory.erase(gone);
    for (const message of page) {
      const isReworded = message.editedTimestamp && waiting.includes(message.id);
      if (isReworded) await memory.amend(fromEdit(message));
    }

    const messages = [...page];
    let last = page;
    for (let pages = 1; pages < mostPages && last.length === pageSize; pages += 1) {
      if (compareIds(messages.at(-1)?.id ?? "", since) < 0) break;
      last = await reader.page(channel, messages.at(-1)?.id);
      messages.push(...last);
    }
    // Who was told that something failed, or is missing, was heard.
    const known = new Set([...waiting, ...said, ...messages.flatMap(repliedTo)]);
    for (const message of messages.reverse()) {
      const asked = known.has(message.id) ? undefined : sessionAsked(message);
      if (asked === undefined || compareIds(message.id, isKnown && asked === own ? oldest : since) < 0) continue;
      // Whatever else is known is found out at the door, but not before the thread is asked for.
      const there = asked === own ? nothing : await memory.heard(asked);
      if (![...there.waiting, ...there.said].includes(message.id)) missed.push(message);
    }
  }

  async #forget(id: string): Promise<void> {
    this.#gone.add(id);
    await this.#plan.memory.forget(sessionOf(id)).catch((error: unknown) => this.#fail(id, error));
  }

  #fail(channel: string, error: unknown): void {
    const isShut = isPermissionMissing(error) || isChannelGone(error);
    if (!isShut && !hasCode(error, "STORE_CORRUPT", "STORE_FORMAT_NEWER")) this.#unread.add(channel);
    this.#plan.log[isShut ? "debug" : "warn"]({ channel, err: error }, "what was said in a place could not be read");
  }
}

/** The message that one of ours replies to. */
function repliedTo({ type, author, client, reference }: Message): string[] {
  const isOurs = type === MessageType.Reply && author.id === client.user.id;
  return isOurs && reference?.messageId ? [reference.messageId] : [];
}
