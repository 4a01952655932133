import { MessageFlags, MessageType } from "discord-api-types/v10";
import { isThread } from "../world/channel-kinds.ts";
import { compareIds } from "../world/snowflake.ts";
import type { Message } from "../world/state.ts";
import type { World } from "../world/world.ts";
import { buttonsOf } from "./buttons.ts";
import { asShown } from "./mention-text.ts";

/**
 * A channel as one would read it aloud, a message a paragraph, oldest first: "Ada: hello", "Threadkeeper (reply to
 * Ada): …". Further lines of a message are indented, so that no message can look like two.
 */
export function channelText(world: World, channelId: string): string {
  const messages = [...world.messages(channelId), ...world.ephemeralMessages(channelId)];
  messages.sort((first, second) => compareIds(first.id, second.id));
  return messages.map((message) => messageText(world, message)).join("\n");
}

export function messageText(world: World, message: Message): string {
  if (message.type === MessageType.ThreadStarterMessage && message.reference?.messageId) {
    const starter = world.findMessage(message.reference.channelId, message.reference.messageId);
    return starter ? spoken(world, starter) : "(the message that this thread began with is gone)";
  }
  const lines = [systemLine(world, message) ?? spoken(world, message)];
  const thread = world.state.channels[message.id];
  if (thread && isThread(thread) && thread.id !== message.channelId) {
    const count = thread.messageCount === 1 ? "1 message" : `${thread.messageCount} messages`;
    lines.push(`  ↳ thread "${thread.name}" (${count}${thread.archived ? ", archived" : ""})`);
  }
  return lines.join("\n");
}

function spoken(world: World, message: Message): string {
  const body = [
    asShown(world, message.content),
    ...message.attachments.map(({ name }) => `[file: ${name}]`),
    ...message.embeds.map(({ title, url }) => `[preview: ${title ?? url ?? ""}]`),
    buttonsOf(message)
      .map(({ label }) => `[${label}]`)
      .join(" "),
  ];
  if (message.flags & MessageFlags.Loading) body.push("is thinking…");
  const text = body.filter((part) => part !== "").join("\n");
  return `${speaker(world, message)}: ${text.replaceAll("\n", "\n  ")}`;
}

function speaker(world: World, message: Message): string {
  const name = world.user(message.authorId).name;
  const notes: string[] = [];
  const { interaction, reference, onlyFor } = message;
  if (interaction?.command) notes.push(`/${interaction.command} by ${world.user(interaction.userId).name}`);
  else if (message.type === MessageType.Reply && reference?.messageId) {
    const answered = world.findMessage(reference.channelId, reference.messageId);
    notes.push(`reply to ${answered ? world.user(answered.authorId).name : "a deleted message"}`);
  }
  if (onlyFor) notes.push(`only ${world.user(onlyFor).name} sees this`);
  return notes.length > 0 ? `${name} (${notes.join(", ")})` : name;
}

function systemLine(world: World, { type, authorId, content }: Message): string | undefined {
  const name = world.user(authorId).name;
  switch (type) {
    case MessageType.Default:
    case MessageType.Reply:
    case MessageType.ChatInputCommand:
    case MessageType.ContextMenuCommand:
      return undefined;
    case MessageType.ChannelNameChange:
      return `— ${name} changed the name: ${content}`;
    case MessageType.ThreadCreated:
      return `— ${name} started a thread: ${content}`;
    case MessageType.ChannelPinnedMessage:
      return `— ${name} pinned a message`;
    default:
      return `— ${name}: ${MessageType[type]}${content ? ` (${content})` : ""}`;
  }
}
