import { type ChatInputCommandInteraction, PermissionFlagsBits } from "discord.js";
import { isGone } from "./discord-error.ts";
import type { RequestBudget } from "./request-budget.ts";

/** Manage Threads, as this member has it in this place at this moment: Discord sends it with every interaction. */
export function managesThreads(interaction: ChatInputCommandInteraction): boolean {
  return interaction.memberPermissions?.has(PermissionFlagsBits.ManageThreads) ?? false;
}

/**
 * Whether this person opened the thread that they are in: who wrote the message that the bot's thread started from,
 * who made the thread or forum post otherwise. A direct conversation is its person's own.
 */
export async function openedThread(interaction: ChatInputCommandInteraction, budget: RequestBudget): Promise<boolean> {
  const { client, user, channel } = interaction;
  if (!interaction.inGuild()) return true;
  if (!channel?.isThread()) return false;
  if (channel.ownerId !== client.user.id) return channel.ownerId === user.id;
  try {
    const starter = await budget.run(`starters of ${channel.parentId}`, () => channel.fetchStarterMessage());
    return starter?.author.id === user.id;
  } catch (error) {
    // The starter was deleted: nobody can be shown to have opened the thread.
    if (isGone(error)) return false;
    throw error;
  }
}
