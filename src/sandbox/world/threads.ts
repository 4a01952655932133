import { ChannelType, MessageType } from "discord-api-types/v10";
import { asThread } from "./channel-kinds.ts";
import { DiscordError, invalid } from "./discord-error.ts";
import { checkDraft, type Draft, demandSomething } from "./drafts.ts";
import { demand, may } from "./permissions.ts";
import { isAnswerable, joinThread, postSystemMessage, publish } from "./posting.ts";
import type { Message, Thread } from "./state.ts";
import { textLength } from "./text-length.ts";
import type { World } from "./world.ts";

export interface ThreadPlan {
  readonly name: string;
  /** Minutes. */
  readonly autoArchive?: number | undefined;
}

/** Opens a thread on a message; the thread's id is the message's. A message carries one thread at most. */
export function threadOnMessage(
  world: World,
  userId: string,
  channelId: string,
  messageId: string,
  plan: ThreadPlan,
): Thread {
  const channel = world.channel(channelId);
  demand(world, userId, channel);
  if (channel.type !== ChannelType.GuildText) throw new DiscordError(50024);
  demand(world, userId, channel, "CreatePublicThreads");
  const starter = world.message(channelId, messageId);
  if (world.state.channels[messageId]) throw new DiscordError(160004);
  if (!isAnswerable(starter.type)) throw new DiscordError(50021);
  const thread = open(world, userId, channel.guildId, channelId, plan, { id: messageId });
  // The starter now shows that it has a thread.
  world.changeMessage(starter);
  postSystemMessage(world, starter.authorId, thread.id, {
    type: MessageType.ThreadStarterMessage,
    reference: { channelId, messageId },
  });
  return asThread(world.channel(thread.id));
}

/** Opens a thread without a message; the channel shows a line about a public one. */
export function threadInChannel(
  world: World,
  userId: string,
  channelId: string,
  plan: ThreadPlan & { readonly isPrivate: boolean; readonly invitable?: boolean | undefined },
): Thread {
  const channel = world.channel(channelId);
  demand(world, userId, channel);
  if (channel.type !== ChannelType.GuildText) throw new DiscordError(50024);
  demand(world, userId, channel, plan.isPrivate ? "CreatePrivateThreads" : "CreatePublicThreads");
  const thread = open(world, userId, channel.guildId, channelId, plan, {
    isPrivate: plan.isPrivate,
    invitable: plan.invitable,
  });
  if (!plan.isPrivate) {
    postSystemMessage(world, userId, channelId, {
      type: MessageType.ThreadCreated,
      content: thread.name,
      reference: { channelId: thread.id },
    });
  }
  return thread;
}

/** A forum's post: a thread whose first message is in the thread itself and has the thread's id. */
export function postInForum(
  world: World,
  userId: string,
  forumId: string,
  plan: ThreadPlan,
  draft: Draft,
): { thread: Thread; message: Message } {
  const forum = world.channel(forumId);
  demand(world, userId, forum, "SendMessages");
  if (forum.type !== ChannelType.GuildForum) throw new DiscordError(50024);
  checkDraft(draft);
  demandSomething(draft);
  const id = world.newId();
  const thread = open(world, userId, forum.guildId, forumId, plan, { id });
  const message = publish(world, { id, authorId: userId, channelId: thread.id, draft, type: MessageType.Default });
  return { thread: asThread(world.channel(thread.id)), message };
}

const autoArchiveChoices = [60, 1_440, 4_320, 10_080];

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || textLength(trimmed) > 100) {
    throw invalid(["name"], "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
  }
  return trimmed;
}

function checkAutoArchive(minutes: number): number {
  if (!autoArchiveChoices.includes(minutes)) {
    const message = `Value must be one of (${autoArchiveChoices.join(", ")}).`;
    throw invalid(["auto_archive_duration"], "BASE_TYPE_CHOICES", message);
  }
  return minutes;
}

function open(
  world: World,
  ownerId: string,
  guildId: string,
  parentId: string,
  { name, autoArchive = 1_440 }: ThreadPlan,
  { id, isPrivate = false, invitable = true }: { id?: string; isPrivate?: boolean; invitable?: boolean | undefined },
): Thread {
  const checked = { name: checkName(name), autoArchive: checkAutoArchive(autoArchive) };
  if (world.threadsOf(guildId).filter(({ archived }) => !archived).length >= world.maxActiveThreads) {
    throw new DiscordError(160006);
  }
  const now = new Date().toISOString();
  return world.addChannel<Thread>({
    type: isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread,
    id: id ?? world.newId(),
    guildId,
    parentId,
    ...checked,
    ownerId,
    archived: false,
    locked: false,
    invitable,
    archiveChangedAt: now,
    createdAt: now,
    members: { [ownerId]: now },
    messageCount: 0,
    totalSent: 0,
    lastMessageId: null,
  });
}

export interface ThreadEdit {
  readonly name?: string | undefined;
  readonly archived?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly autoArchive?: number | undefined;
  readonly invitable?: boolean | undefined;
}

/**
 * Its owner may rename, archive and reopen it, Manage Threads everything; anybody who may write in it may reopen it
 * unless it is locked. In an archived thread nothing can be changed but that.
 */
export function editThread(world: World, userId: string, threadId: string, edit: ThreadEdit): Thread {
  const thread = asThread(world.channel(threadId));
  demand(world, userId, thread);
  const manages = may(world, userId, thread, "ManageThreads");
  const { name, archived = thread.archived, locked = thread.locked, autoArchive, invitable } = edit;
  const onlyReopens =
    edit.archived === false && Object.values(edit).filter((value) => value !== undefined).length === 1;
  if (!manages) {
    const isAllowed = onlyReopens ? may(world, userId, thread, "SendMessagesInThreads") : thread.ownerId === userId;
    if (!isAllowed || thread.locked || edit.locked !== undefined) throw new DiscordError(50013);
  }
  if (
    thread.archived &&
    edit.archived !== false &&
    Object.values({ name, autoArchive }).some((value) => value !== undefined)
  ) {
    throw new DiscordError(50083);
  }
  const renamed = name === undefined ? thread.name : checkName(name);
  const changed = world.changeThread(threadId, {
    name: renamed,
    archived,
    locked,
    invitable: invitable ?? thread.invitable,
    autoArchive: autoArchive === undefined ? thread.autoArchive : checkAutoArchive(autoArchive),
    archiveChangedAt: archived === thread.archived ? thread.archiveChangedAt : new Date().toISOString(),
  });
  if (renamed !== thread.name) {
    postSystemMessage(world, userId, threadId, { type: MessageType.ChannelNameChange, content: renamed });
  }
  return changed;
}

/** Adds a member; into a private thread that isn't open to invitations, only its owner or Manage Threads may. */
export function addToThread(world: World, userId: string, threadId: string, addedId: string): void {
  const thread = asThread(world.channel(threadId));
  demand(world, userId, thread, ...(userId === addedId ? [] : (["SendMessagesInThreads"] as const)));
  if (thread.archived) throw new DiscordError(50083);
  const mayInvite = thread.invitable || thread.ownerId === userId || may(world, userId, thread, "ManageThreads");
  if (userId !== addedId && !mayInvite) throw new DiscordError(50013);
  joinThread(world, threadId, [world.user(addedId).id]);
}

export function removeFromThread(world: World, userId: string, threadId: string, removedId: string): void {
  const thread = asThread(world.channel(threadId));
  demand(world, userId, thread, ...(userId === removedId ? [] : (["ManageThreads"] as const)));
  if (thread.archived) throw new DiscordError(50083);
  if (Object.hasOwn(thread.members, removedId)) world.changeThreadMembers(threadId, { left: [removedId] });
}
