import { type AnyThreadChannel, type ChatInputCommandInteraction, MessageFlags, PermissionFlagsBits } from "discord.js";
import { forkedWording } from "../reply/wording.ts";
import { isGone } from "./discord-error.ts";
import type { RequestBudget } from "./request-budget.ts";

/** Manage Threads, as this member has it in this place at this moment: Discord sends it with every interaction. */
export function managesThreads(interaction: ChatInputCommandInteraction): boolean {
  return interaction.memberPermissions?.has(PermissionFlagsBits.ManageThreads) ?? false;
}

/** Whether this person may say what becomes of what is remembered here: who opened the thread, or may manage threads. */
export async function mayForget(interaction: ChatInputCommandInteraction, budget: RequestBudget): Promise<boolean> {
  return managesThreads(interaction) || (await openedThread(interaction, budget));
}

/**
 * Whether this person opened the thread that they are in: who wrote the message that the bot's thread started from,
 * who had it forked, who made the thread or forum post otherwise. A direct conversation is its person's own.
 */
async function openedThread(interaction: ChatInputCommandInteraction, budget: RequestBudget): Promise<boolean> {
  const { client, user, channel } = interaction;
  if (!interaction.inGuild()) return true;
  if (!channel?.isThread()) return false;
  if (channel.ownerId !== client.user.id) return channel.ownerId === user.id;
  try {
    const starter = await budget.run(`starters of ${channel.parentId}`, () => channel.fetchStarterMessage());
    if (starter && starter.author.id !== client.user.id) return starter.author.id === user.id;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  // There is none, or it was deleted: then nobody can be shown to have opened it, but who had it forked.
  return (await forkedBy(channel, budget)) === user.id;
}

/** Who had a thread opened that begins with another's memory: our own first message in it says so. */
async function forkedBy(channel: AnyThreadChannel, budget: RequestBudget): Promise<string | undefined> {
  // In a forum it is the post's own, whose id is the thread's.
  const options = { after: String(BigInt(channel.id) - 1n), limit: 10, cache: false };
  const first = await budget.run(`messages of ${channel.id}`, () => channel.messages.fetch(options));
  for (const { author, content, flags, webhookId } of [...first.values()].reverse()) {
    // What a model said is marked, whatever it said.
    if (author.id !== channel.client.user.id || webhookId || flags.has(MessageFlags.SuppressEmbeds)) continue;
    const [by, from] = content.match(/<[@#]\d+>/g) ?? [];
    if (by && from && content === forkedWording({ by, from })) return by.slice(2, -1);
  }
  return undefined;
}
