import { AllowedMentionsTypes, ComponentType, type MessageType } from "discord-api-types/v10";
import { asThread } from "../world/channel-kinds.ts";
import { deleteChannel, showTyping } from "../world/channels.ts";
import { DiscordError } from "../world/discord-error.ts";
import { deleteMessage, editMessage } from "../world/editing.ts";
import { ask } from "../world/interactions.ts";
import { canView, demand, mayInGuild } from "../world/permissions.ts";
import { postMessage, postSystemMessage } from "../world/posting.ts";
import type { Message, Thread, User } from "../world/state.ts";
import { addToThread, editThread, postInForum, threadInChannel, threadOnMessage } from "../world/threads.ts";
import type { World } from "../world/world.ts";
import { buttonsOf } from "./buttons.ts";
import { type ChannelReference, findChannel } from "./channel-reference.ts";
import { asTyped } from "./mention-text.ts";
import { RunningInteraction } from "./running-interaction.ts";
import { commandsFor, parseSlashCommand } from "./slash-command.ts";

export interface FileToSend {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly contentType?: string;
}

export interface SayOptions {
  readonly replyTo?: Message;
  /** Whether a reply rings for whom it answers; default true. */
  readonly ping?: boolean;
  readonly attachments?: readonly FileToSend[];
  /** Called by their `@name` in front of the text. */
  readonly mentions?: readonly { readonly id: string }[];
}

/**
 * Somebody who acts in the sandbox as a person does with a Discord client: at once, and under the same rules as bots
 * (a DiscordError says what was refused). `@Name`, `@Role` and `#channel` in a text are what they mean.
 */
export class Actor {
  readonly #world: World;
  readonly id: string;

  constructor(world: World, user: User) {
    this.#world = world;
    this.id = user.id;
  }

  get name(): string {
    return this.#world.user(this.id).name;
  }

  says(channel: ChannelReference, text: string, options: SayOptions = {}): Message {
    const { id } = findChannel(this.#world, channel);
    const { replyTo, ping = true, attachments, mentions = [] } = options;
    return postMessage(this.#world, this.id, id, {
      content: [...mentions.map((user) => `<@${user.id}>`), this.#meant(text, id)].join(" "),
      replyTo: replyTo && { messageId: replyTo.id },
      allowedMentions:
        replyTo && !ping ? { parse: Object.values(AllowedMentionsTypes), replied_user: false } : undefined,
      files: attachments?.map(({ name, content, contentType }) => ({ name, contentType, bytes: Buffer.from(content) })),
    });
  }

  /** "@Threadkeeper text", in #general unless told otherwise. */
  mentions(bot: { readonly id: string }, text: string, channel: ChannelReference = "general"): Message {
    return this.says(channel, `<@${bot.id}> ${text}`);
  }

  edits(message: Message, text: string): Message {
    const content = this.#meant(text, message.channelId);
    return editMessage(this.#world, this.id, message.channelId, message.id, { content });
  }

  deletes(message: Message): void {
    deleteMessage(this.#world, this.id, message.channelId, message.id);
  }

  types(channel: ChannelReference): void {
    showTyping(this.#world, this.id, findChannel(this.#world, channel).id);
  }

  /** Runs what is typed, as in `/reset` or `/remind when:"in an hour"`. */
  runs(line: string, place: { readonly in: ChannelReference }): RunningInteraction {
    const channel = findChannel(this.#world, place.in);
    if (!canView(this.#world, this.id, channel)) throw new DiscordError(50001);
    const asked = parseSlashCommand(this.#world, line, channel);
    const needed = commandsFor(this.#world, channel).find(
      ({ id }) => id === asked.commandId,
    )?.default_member_permissions;
    if ("guildId" in channel) {
      demand(this.#world, this.id, channel, "UseApplicationCommands");
      const guild = this.#world.guild(channel.guildId);
      if (needed && !mayInGuild(guild, this.id, BigInt(needed))) throw new DiscordError(50013);
    }
    return new RunningInteraction(this.#world, ask(this.#world, this.id, channel.id, asked));
  }

  /** Presses the newest button of this label that this person sees in the channel. */
  clicks(label: string, place: { readonly in: ChannelReference }): RunningInteraction {
    const channel = findChannel(this.#world, place.in);
    if (!canView(this.#world, this.id, channel)) throw new DiscordError(50001);
    const ephemeral = this.#world.ephemeralMessages(channel.id).filter(({ onlyFor }) => onlyFor === this.id);
    for (const message of [...this.#world.messages(channel.id), ...ephemeral].toReversed()) {
      const button = buttonsOf(message).find((candidate) => candidate.label === label);
      if (!button) continue;
      if (button.disabled) throw new Error(`the button ${label} is switched off`);
      const { customId } = button;
      const asked = {
        kind: "component",
        componentType: ComponentType.Button,
        customId,
        messageId: message.id,
      } as const;
      return new RunningInteraction(this.#world, ask(this.#world, this.id, channel.id, asked));
    }
    throw new Error(`${this.name} sees no button ${label}`);
  }

  /** Opens a thread on a message, or without one in a channel. */
  opensThread(on: Message | ChannelReference, name: string, { isPrivate = false } = {}): Thread {
    if (typeof on === "object" && "channelId" in on) {
      return threadOnMessage(this.#world, this.id, on.channelId, on.id, { name });
    }
    return threadInChannel(this.#world, this.id, findChannel(this.#world, on).id, { name, isPrivate });
  }

  /** Posts in a forum: a thread with its first message in it. */
  posts(forum: ChannelReference, title: string, text: string): { thread: Thread; message: Message } {
    const { id } = findChannel(this.#world, forum);
    return postInForum(this.#world, this.id, id, { name: title }, { content: this.#meant(text, id) });
  }

  adds(user: { readonly id: string }, thread: ChannelReference): void {
    addToThread(this.#world, this.id, findChannel(this.#world, thread).id, user.id);
  }

  renames(thread: ChannelReference, name: string): Thread {
    return editThread(this.#world, this.id, this.#thread(thread).id, { name });
  }

  archives(thread: ChannelReference): Thread {
    return editThread(this.#world, this.id, this.#thread(thread).id, { archived: true });
  }

  reopens(thread: ChannelReference): Thread {
    return editThread(this.#world, this.id, this.#thread(thread).id, { archived: false });
  }

  /** Closes and locks, as Discord's client does; with `archived: false` it is locked only. */
  locks(thread: ChannelReference, { archived = true } = {}): Thread {
    return editThread(this.#world, this.id, this.#thread(thread).id, { locked: true, archived });
  }

  /** Deletes a thread or a channel. */
  removes(channel: ChannelReference): void {
    deleteChannel(this.#world, this.id, findChannel(this.#world, channel).id);
  }

  /** Does what Discord writes a line about: a pin, a boost, joining … */
  causes(type: MessageType, place: { readonly in: ChannelReference; readonly content?: string }): Message {
    const { id } = findChannel(this.#world, place.in);
    return postSystemMessage(this.#world, this.id, id, { type, content: place.content ?? "" });
  }

  #thread(reference: ChannelReference): Thread {
    return asThread(findChannel(this.#world, reference));
  }

  #meant(text: string, channelId: string): string {
    return asTyped(this.#world, text, channelId);
  }
}
