import { ChannelType, MessageFlags, MessageType } from "discord-api-types/v10";
import { asThread, isThread } from "./channel-kinds.ts";
import { DiscordError, invalid } from "./discord-error.ts";
import { checkDraft, type Draft, demandSomething, keepFiles, previewsOf } from "./drafts.ts";
import { noPings, pingsOf } from "./mentions.ts";
import { demand, may } from "./permissions.ts";
import type { Channel, Message } from "./state.ts";
import type { World } from "./world.ts";

/** What a sender may set; everything else is Discord's to set. */
const settableFlags = MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications | MessageFlags.IsComponentsV2;

/** Sends a message as `authorId`, under the rules that hold for everybody. */
export function postMessage(world: World, authorId: string, channelId: string, draft: Draft): Message {
  const channel = world.channel(channelId);
  if (channel.type === ChannelType.GuildForum) throw new DiscordError(50008);
  demand(world, authorId, channel, isThread(channel) ? "SendMessagesInThreads" : "SendMessages");
  checkDraft(draft);
  if (draft.files?.length) demand(world, authorId, channel, "AttachFiles");
  const before = draft.enforceNonce && draft.nonce !== undefined ? sentWith(world, authorId, draft.nonce) : undefined;
  if (before) return before;
  const repliedTo = draft.replyTo && referenced(world, authorId, channel, draft.replyTo);
  demandSomething(draft);
  wakeThread(world, authorId, channel);
  return publish(world, {
    authorId,
    channelId,
    draft,
    // Where it doesn't matter that the message is gone, what is sent is no reply.
    type: repliedTo ? MessageType.Reply : MessageType.Default,
    ...(repliedTo && { reference: { channelId, messageId: repliedTo.id } }),
    repliedTo,
  });
}

interface Publication {
  /** A forum post's first message has the post's id. */
  readonly id?: string;
  readonly authorId: string;
  readonly channelId: string;
  readonly draft: Draft;
  readonly type: MessageType;
  readonly flags?: number;
  readonly reference?: Message["reference"];
  readonly repliedTo?: Message | undefined;
  readonly interaction?: Message["interaction"];
  readonly onlyFor?: string | undefined;
}

/** Makes the message, without asking for any right and whatever is in it: an interaction's answer needs none. */
export function publish(world: World, publication: Publication): Message {
  const { authorId, channelId, draft, type, reference, interaction, onlyFor } = publication;
  const channel = world.channel(channelId);
  const content = (draft.content ?? "").trim();
  const mentions = pingsOf(world, {
    authorId,
    channel,
    content,
    allowed: draft.allowedMentions,
    repliedTo: publication.repliedTo?.authorId,
  });
  const message: Message = {
    id: publication.id ?? world.newId(),
    channelId,
    authorId,
    type,
    content,
    createdAt: new Date().toISOString(),
    editedAt: null,
    flags: ((draft.flags ?? 0) & settableFlags) | (publication.flags ?? 0),
    ...(draft.nonce !== undefined && { nonce: draft.nonce }),
    ...(reference && { reference }),
    attachments: keepFiles(world, draft.files),
    embeds: draft.embeds ?? [],
    components: draft.components ?? [],
    mentions,
    pinged: mentions,
    ...(interaction && { interaction }),
    ...(onlyFor && { onlyFor }),
  };
  rememberNonce(world, message);
  if (isThread(channel) && !onlyFor) joinThread(world, channel.id, [authorId, ...mentions.users]);
  world.addMessage(message);
  unfurl(world, message);
  return message;
}

/** What Discord itself writes: a rename, a pin, a thread's beginning. */
export function postSystemMessage(
  world: World,
  authorId: string,
  channelId: string,
  { type, content = "", reference }: { type: MessageType; content?: string; reference?: Message["reference"] },
): Message {
  return world.addMessage({
    id: world.newId(),
    channelId,
    authorId,
    type,
    content,
    createdAt: new Date().toISOString(),
    editedAt: null,
    flags: 0,
    ...(reference && { reference }),
    attachments: [],
    embeds: [],
    components: [],
    mentions: noPings,
    pinged: noPings,
  });
}

/** The message that this author sent with this nonce a short while ago; 10008 if it has been deleted since. */
function sentWith(world: World, authorId: string, nonce: string | number): Message | undefined {
  const sent = world.state.nonces[`${authorId}:${nonce}`];
  if (!sent || Date.now() - Date.parse(sent.createdAt) >= world.nonceMs) return undefined;
  world.message(sent.channelId, sent.id);
  return sent;
}

function rememberNonce(world: World, message: Message): void {
  const { nonces } = world.state;
  for (const [key, sent] of Object.entries(nonces)) {
    if (Date.now() - Date.parse(sent.createdAt) < world.nonceMs) break;
    delete nonces[key];
  }
  if (message.nonce === undefined || message.interaction) return;
  const key = `${message.authorId}:${message.nonce}`;
  // Taken out first, so that the keys stand in the order of their age.
  delete nonces[key];
  nonces[key] = message;
}

function referenced(
  world: World,
  authorId: string,
  channel: Channel,
  replyTo: NonNullable<Draft["replyTo"]>,
): Message | undefined {
  if (!may(world, authorId, channel, "ReadMessageHistory")) throw new DiscordError(160002);
  const message = world.findMessage(channel.id, replyTo.messageId);
  if (!message && replyTo.failIfNotExists !== false) {
    throw invalid(["message_reference"], "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
  }
  if (message && message.type !== MessageType.Default && !isAnswerable(message.type)) {
    throw invalid(["message_reference"], "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message");
  }
  return message;
}

/** A person's message, a reply, or what a command answered. */
export function isAnswerable(type: MessageType): boolean {
  return (
    type === MessageType.Default ||
    type === MessageType.Reply ||
    type === MessageType.ChatInputCommand ||
    type === MessageType.ContextMenuCommand
  );
}

/** A message reopens an archived thread; a locked one takes none without Manage Threads. */
function wakeThread(world: World, authorId: string, channel: Channel): void {
  if (!isThread(channel)) return;
  if (channel.locked && !may(world, authorId, channel, "ManageThreads")) {
    throw new DiscordError(channel.archived ? 50083 : 160005);
  }
  if (channel.archived) {
    world.changeThread(channel.id, { archived: false, archiveChangedAt: new Date().toISOString() });
  }
}

/** Who speaks in a thread or is called into it becomes its member. */
export function joinThread(world: World, threadId: string, userIds: readonly string[]): void {
  const thread = asThread(world.channel(threadId));
  const parent = world.channel(thread.parentId);
  const joined = [...new Set(userIds)].filter((id) => !(id in thread.members) && may(world, id, parent, "ViewChannel"));
  if (joined.length > 0) world.changeThreadMembers(threadId, { joined });
}

/** Adds the link previews, as an update of its own that no person made; whoever sent the message is answered before. */
export function unfurl(world: World, message: Message): void {
  const previews = may(world, message.authorId, world.channel(message.channelId), "EmbedLinks")
    ? previewsOf(message.content, message.flags)
    : [];
  if (previews.length > 0) world.changeMessage({ ...message, embeds: [...message.embeds, ...previews] });
}
