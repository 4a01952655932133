import { ChannelType, EmbedType, MessageFlags, MessageType } from "discord-api-types/v10";
import { isThread } from "./channel-kinds.ts";
import { DiscordError, invalid } from "./discord-error.ts";
import { checkDraft, type Draft, demandSomething, keepFiles } from "./drafts.ts";
import { joinPings, pingsOf } from "./mentions.ts";
import { demand } from "./permissions.ts";
import { isAnswerable, unfurl } from "./posting.ts";
import type { Message } from "./state.ts";
import type { World } from "./world.ts";

/** What an edit changes; what is left out stays. */
export interface Edit extends Pick<Draft, "embeds" | "components" | "files" | "flags" | "allowedMentions"> {
  readonly content?: string | null | undefined;
  /** The attachments that stay. */
  readonly keep?: readonly string[] | undefined;
}

/** Edits as `userId`: one's own message; of others' only the previews may be suppressed, with Manage Messages. */
export function editMessage(world: World, userId: string, channelId: string, messageId: string, edit: Edit): Message {
  const channel = world.channel(channelId);
  demand(world, userId, channel);
  const message = world.message(channelId, messageId);
  if (isThread(channel) && channel.archived) throw new DiscordError(50083);
  if (message.authorId !== userId) {
    const { flags, ...more } = edit;
    if (flags === undefined || Object.values(more).some((value) => value !== undefined)) throw new DiscordError(50005);
    demand(world, userId, channel, "ManageMessages");
  } else if (!isAnswerable(message.type)) throw new DiscordError(50021);
  return revise(world, message, edit);
}

/** Makes the edit, without asking for any right. */
export function revise(world: World, message: Message, edit: Edit): Message {
  checkDraft({ ...edit, content: edit.content ?? undefined });
  const content = edit.content === undefined ? message.content : (edit.content ?? "").trim();
  const flags =
    edit.flags === undefined
      ? message.flags
      : (message.flags & ~MessageFlags.SuppressEmbeds) | (edit.flags & MessageFlags.SuppressEmbeds);
  const mentions =
    edit.content === undefined
      ? message.mentions
      : pingsOf(world, {
          authorId: message.authorId,
          channel: world.channel(message.channelId),
          content,
          allowed: edit.allowedMentions,
          repliedTo: undefined,
        });
  const kept = edit.keep ? message.attachments.filter(({ id }) => edit.keep?.includes(id)) : message.attachments;
  const edited: Message = {
    ...message,
    content,
    flags: flags & ~MessageFlags.Loading,
    // Suppressing previews is not an edit that a reader is told of.
    editedAt: rewrites(edit) ? new Date().toISOString() : message.editedAt,
    attachments: [...kept, ...keepFiles(world, edit.files)],
    embeds: edit.embeds ?? message.embeds.filter((embed) => embed.type !== EmbedType.Link),
    components: edit.components ?? message.components,
    mentions,
    pinged: joinPings(message.pinged, mentions),
  };
  demandSomething(edited);
  world.changeMessage(edited);
  unfurl(world, edited);
  return edited;
}

function rewrites({ content, embeds, components, files, keep }: Edit): boolean {
  return [content, embeds, components, files, keep].some((part) => part !== undefined);
}

/** Deletes one's own message, or another's with Manage Messages. */
export function deleteMessage(world: World, userId: string, channelId: string, messageId: string): void {
  const channel = world.channel(channelId);
  demand(world, userId, channel);
  const message = world.message(channelId, messageId);
  if (isThread(channel) && channel.archived) throw new DiscordError(50083);
  if (message.type === MessageType.ThreadStarterMessage) throw new DiscordError(50021);
  if (message.authorId !== userId) demand(world, userId, channel, "ManageMessages");
  world.removeMessage(message);
}

const twoWeeks = 14 * 24 * 60 * 60_000;

/** Deletes 2 to 100 messages at once; those that are gone already don't matter. */
export function deleteMessages(world: World, userId: string, channelId: string, ids: readonly string[]): void {
  const channel = world.channel(channelId);
  if (channel.type === ChannelType.DM) throw new DiscordError(50003);
  demand(world, userId, channel, "ManageMessages");
  if (ids.length < 2 || ids.length > 100) {
    throw invalid(["messages"], "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 100 in length.");
  }
  const messages = [...new Set(ids)]
    .map((id) => world.findMessage(channelId, id))
    .filter((message) => message !== undefined);
  if (messages.some(({ createdAt }) => Date.now() - Date.parse(createdAt) > twoWeeks)) throw new DiscordError(50034);
  world.removeMessages(channelId, messages);
}
