import { type Message, PermissionFlagsBits, type PermissionsBitField, type ThreadChannel } from "discord.js";
import { ThreadkeeperError } from "../errors.ts";
import type { Ground } from "./from-discord.ts";

/** Permissions by the names that Discord's settings show. */
const names = {
  CreatePublicThreads: "Create Public Threads",
  SendMessagesInThreads: "Send Messages in Threads",
  SendMessages: "Send Messages",
  ReadMessageHistory: "Read Message History",
  Connect: "Connect",
} as const;

type Named = keyof typeof names;

const needed: Readonly<Record<Ground, readonly Named[]>> = {
  "new-thread": ["CreatePublicThreads", "SendMessagesInThreads", "ReadMessageHistory"],
  "own-thread": ["SendMessagesInThreads", "ReadMessageHistory"],
  foreign: ["SendMessagesInThreads", "ReadMessageHistory"],
  direct: [],
};

/** What the bot can do in the place of a message, as far as its cache knows; `undefined`: it doesn't, or needs none. */
function own(message: Message): Readonly<PermissionsBitField> | undefined {
  const { channel, client } = message;
  if (channel.isDMBased()) return undefined;
  return channel.permissionsFor(client.user) ?? undefined;
}

/** What is missing to answer a message, by name. Computed: a refusal of Discord's (50013) names none. */
export function missingPermissions(message: Message, ground: Ground): string[] {
  const permissions = own(message);
  if (!permissions) return [];
  const list = ground === "foreign" && !message.channel.isThread() ? neededInPlace(message) : needed[ground];
  return list.filter((name) => !permissions.has(PermissionFlagsBits[name])).map((name) => names[name]);
}

/** What is missing to open another thread beside this one and to write in it, by name. */
export function missingForThread({ parent, client }: ThreadChannel): string[] {
  const permissions = parent?.permissionsFor(client.user);
  if (!parent || !permissions) return [];
  const list = parent.isThreadOnly()
    ? (["SendMessages", "SendMessagesInThreads"] as const)
    : (["CreatePublicThreads", "SendMessagesInThreads"] as const);
  return list.filter((name) => !permissions.has(PermissionFlagsBits[name])).map((name) => names[name]);
}

/** What it takes in a channel that can't have threads; the text of a voice channel is for those who may enter it. */
function neededInPlace({ channel }: Message): readonly Named[] {
  const list = ["SendMessages", "ReadMessageHistory"] as const;
  return channel.isVoiceBased() ? ["Connect", ...list] : list;
}

/** Whether a thread is locked to the bot, so that no answer can be posted. */
export function isLockedToBot(message: Message): boolean {
  const { channel } = message;
  if (!channel.isThread() || !channel.locked) return false;
  return !own(message)?.has(PermissionFlagsBits.ManageThreads);
}

export function permissionMissing(permissions: readonly string[], cause?: unknown): ThreadkeeperError {
  const list = permissions.join(", ") || "a permission that Discord does not name";
  return new ThreadkeeperError(
    "DISCORD_PERMISSION_MISSING",
    `the bot may not answer here: it lacks ${list}; give it that in the channel's or the server's settings`,
    { fields: { permissions }, cause },
  );
}
