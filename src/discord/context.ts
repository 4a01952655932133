import { type GuildTextBasedChannel, type Message, MessageType } from "discord.js";
import type { Prepared } from "../conversation/inbound.ts";
import { noticeWording } from "../reply/wording.ts";
import { isGone } from "./discord-error.ts";
import { fileNotes, readEnclosures } from "./enclosures.ts";
import { readableText } from "./readable-text.ts";
import type { RequestBudget } from "./request-budget.ts";
import { compareIds } from "./snowflake.ts";
import { undoneBy } from "./undone.ts";

const newest = 20;
/** What the bot says in a thread whose memory was wiped: what stands before it must not come back as context. */
const forgotten = noticeWording({ type: "notice", reason: "forgotten", replyTo: null });
type ContextMessage = NonNullable<Prepared["context"]>[number];

/**
 * What was said in somebody else's thread before the bot was called: the message that the thread started from and the
 * newest ones, 20 in all, oldest first. The bot's own words are left out; its session has them.
 * @param before the message that calls the bot; absent when the call is what the thread started from
 */
export async function readContext(
  channel: GuildTextBasedChannel,
  budget: RequestBudget,
  before?: string,
): Promise<ContextMessage[]> {
  const options = { limit: newest, cache: false, ...(before === undefined ? {} : { before }) };
  const fetched = await budget.run(`messages of ${channel.id}`, () => channel.messages.fetch(options));
  const all = [...fetched.values()].sort((one, other) => compareIds(one.id, other.id));
  const undone = new Set(all.flatMap(undoneBy));
  const said = all.slice(all.findLastIndex(isForgetting) + 1);
  const isWhole = said.length === all.length;
  if (isWhole && channel.isThread() && before !== undefined && before !== channel.id && !fetched.has(channel.id)) {
    const fetchStarter = () => channel.fetchStarterMessage({ cache: false }).catch(unlessGone);
    const starter = await budget.run(`starters of ${channel.parentId}`, fetchStarter);
    if (starter) said.unshift(starter);
  }
  const context = said
    .filter((message) => isSpoken(message) && !undone.has(message.id))
    .map(toContext)
    .filter(({ text }) => text !== "");
  const [starter, ...rest] = context;
  if (!starter || context.length <= newest) return context;
  return [starter, ...rest.slice(1 - newest)];
}

/** The message that a call replies to, so that "what does this mean?" has something to mean. Discord sends it along. */
export function readQuoted({ type, channel, reference }: Message): ContextMessage[] {
  if (type !== MessageType.Reply || !reference?.messageId) return [];
  const quoted = channel.messages.cache.get(reference.messageId);
  return quoted ? [toContext(quoted)].filter(({ text }) => text !== "") : [];
}

function isSpoken(message: Message): boolean {
  const byPerson = message.type === MessageType.Default || message.type === MessageType.Reply;
  return byPerson && message.author.id !== message.client.user.id;
}

function isForgetting({ type, author, client, content }: Message): boolean {
  return type === MessageType.ChatInputCommand && author.id === client.user.id && content === forgotten;
}

function toContext(message: Message): ContextMessage {
  const parts = [readableText(message, new Set()), ...readEnclosures(message), ...fileNotes(message)];
  const text = parts.filter(Boolean).join("\n");
  const name = message.member?.displayName ?? message.author.displayName;
  return { id: message.id, author: { id: message.author.id, name }, text };
}

function unlessGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}
