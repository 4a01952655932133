// Over 250 lines: it is one thing, the records and the few ways in which they change, kept together so that every
// change that matters is announced, in order, from one place.
import { type APIOverwrite, ChannelType, MessageType } from "discord-api-types/v10";
import { own } from "../json-object.ts";
import type { Change } from "./change.ts";
import { asThread, isGuildChannel, isThread } from "./channel-kinds.ts";
import { DiscordError } from "./discord-error.ts";
import type { Interaction } from "./interaction.ts";
import { compareIds, positionOf, Snowflakes } from "./snowflake.ts";
import {
  type Channel,
  type DirectChannel,
  type Guild,
  type GuildChannel,
  type Member,
  type Message,
  newSecret,
  type Role,
  type SandboxState,
  type Thread,
  type User,
} from "./state.ts";
import { Typing, typingMs } from "./typing.ts";

/** The records, how they are found and how they change. It knows no rule: who may do what is decided by its callers. */
export class World {
  readonly state: SandboxState;
  /** By token. */
  readonly interactions = new Map<string, Interaction>();
  readonly typing = new Typing();
  /** Guilds that are out at the moment. */
  readonly outages = new Set<string>();
  /** Where attachments are served: `http://127.0.0.1:port`. */
  origin = "";
  /** How long a nonce is remembered, in milliseconds. */
  readonly nonceMs: number;
  /** What links to attachments are signed with. */
  readonly linkSecret = newSecret();
  maxActiveThreads = 1_000;

  readonly #ids: Snowflakes;
  readonly #ephemeral: Message[] = [];
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #announced: Change[] = [];
  #announcing = false;

  constructor(state: SandboxState, nonceMs = 180_000) {
    this.state = state;
    this.nonceMs = nonceMs;
    this.#ids = new Snowflakes(state.lastId);
  }

  /** Calls `listener` after every change, in the order in which they happened; returns how to stop. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A listener may itself change something: everybody still hears of the first change first. */
  announce(change: Change): void {
    this.#announced.push(change);
    if (this.#announcing) return;
    this.#announcing = true;
    try {
      for (let next = this.#announced.shift(); next; next = this.#announced.shift()) {
        for (const listener of this.#listeners) listener(next);
      }
    } finally {
      this.#announcing = false;
    }
  }

  newId(): string {
    this.state.lastId = this.#ids.next();
    return this.state.lastId;
  }

  // Users, guilds, members, roles

  get bot(): User {
    return this.user(this.state.botId);
  }

  user(id: string): User {
    const user = own(this.state.users, id);
    if (!user) throw new DiscordError(10013);
    return user;
  }

  userByName(name: string): User | undefined {
    return Object.values(this.state.users).find((user) => user.name === name);
  }

  putUser(user: User): User {
    this.state.users[user.id] = user;
    return user;
  }

  guild(id: string): Guild {
    const guild = own(this.state.guilds, id);
    if (!guild) throw new DiscordError(10004);
    return guild;
  }

  /** Those that the user is in. */
  guildsOf(userId: string): Guild[] {
    return Object.values(this.state.guilds).filter((guild) => guild.members[userId]);
  }

  member(guildId: string, userId: string): Member {
    const member = own(this.guild(guildId).members, userId);
    if (!member) throw new DiscordError(10007);
    return member;
  }

  addGuild(guild: Guild): Guild {
    this.state.guilds[guild.id] = guild;
    this.announce({ type: "guild-available", guild });
    return guild;
  }

  putMember(guildId: string, member: Member): Member {
    const guild = this.guild(guildId);
    const known = guild.members[member.userId];
    this.#putGuild({ ...guild, members: { ...guild.members, [member.userId]: member } });
    if (!known && member.userId === this.state.botId)
      this.announce({ type: "guild-available", guild: this.guild(guildId) });
    this.announce({ type: known ? "member-updated" : "member-joined", guildId, member });
    return member;
  }

  removeMember(guildId: string, userId: string): void {
    const guild = this.guild(guildId);
    const { [userId]: member, ...members } = guild.members;
    if (!member) throw new DiscordError(10007);
    this.#putGuild({ ...guild, members });
    this.announce({ type: "member-left", guildId, member });
    if (userId === this.state.botId) this.announce({ type: "guild-left", guild });
  }

  putRole(guildId: string, role: Role): Role {
    const guild = this.guild(guildId);
    const known = guild.roles[role.id];
    this.#putGuild({ ...guild, roles: { ...guild.roles, [role.id]: role } });
    this.announce({ type: known ? "role-updated" : "role-created", guildId, role });
    return role;
  }

  #putGuild(guild: Guild): void {
    this.state.guilds[guild.id] = guild;
  }

  // Channels and threads

  channel(id: string): Channel {
    const channel = own(this.state.channels, id);
    if (!channel) throw new DiscordError(10003);
    return channel;
  }

  channelsOf(guildId: string): GuildChannel[] {
    return Object.values(this.state.channels).filter(
      (channel): channel is GuildChannel => isGuildChannel(channel) && channel.guildId === guildId,
    );
  }

  /** Newest first, as Discord lists them. */
  threadsOf(guildId: string, parentId?: string): Thread[] {
    return Object.values(this.state.channels)
      .filter(isThread)
      .filter((thread) => thread.guildId === guildId && (!parentId || thread.parentId === parentId))
      .sort((first, second) => compareIds(second.id, first.id));
  }

  directChannel(userIds: readonly [string, string]): DirectChannel | undefined {
    return Object.values(this.state.channels).find(
      (channel): channel is DirectChannel =>
        channel.type === ChannelType.DM && userIds.every((id) => channel.userIds.includes(id)),
    );
  }

  addChannel<Added extends Channel>(channel: Added): Added {
    this.state.channels[channel.id] = channel;
    if (isThread(channel)) this.announce({ type: "thread-created", thread: channel });
    else if (isGuildChannel(channel)) this.announce({ type: "channel-created", channel });
    return channel;
  }

  changeThread(id: string, change: Partial<Thread>): Thread {
    const thread = { ...asThread(this.channel(id)), ...change };
    this.state.channels[id] = thread;
    this.announce({ type: "thread-updated", thread });
    return thread;
  }

  changeChannel(
    id: string,
    change: { name?: string; topic?: string | null; overwrites?: readonly APIOverwrite[] },
  ): GuildChannel {
    const channel = this.channel(id);
    if (!isGuildChannel(channel)) throw new DiscordError(50024);
    const changed = { ...channel, ...change };
    this.state.channels[id] = changed;
    this.announce({ type: "channel-updated", channel: changed });
    return changed;
  }

  changeThreadMembers(
    id: string,
    { joined = [], left = [] }: { joined?: readonly string[]; left?: readonly string[] },
  ): void {
    const thread = asThread(this.channel(id));
    const members = { ...thread.members };
    const now = new Date().toISOString();
    for (const userId of joined) members[userId] = now;
    for (const userId of left) delete members[userId];
    const changed = { ...thread, members };
    this.state.channels[id] = changed;
    this.announce({ type: "thread-members-changed", thread: changed, joined, left });
  }

  /** A channel takes its threads and messages with it. */
  removeChannel(id: string): Channel {
    const channel = this.channel(id);
    if (isGuildChannel(channel)) {
      for (const thread of this.threadsOf(channel.guildId, id)) this.removeChannel(thread.id);
    }
    delete this.state.channels[id];
    delete this.state.messages[id];
    if (isThread(channel)) this.announce({ type: "thread-deleted", thread: channel });
    else if (isGuildChannel(channel)) this.announce({ type: "channel-deleted", channel });
    return channel;
  }

  // Messages

  /** Oldest first; ephemeral ones are not among them. */
  messages(channelId: string): readonly Message[] {
    return own(this.state.messages, channelId) ?? [];
  }

  ephemeralMessages(channelId: string): Message[] {
    return this.#ephemeral.filter((message) => message.channelId === channelId);
  }

  findMessage(channelId: string, id: string): Message | undefined {
    return (
      this.messages(channelId)[positionOf(this.messages(channelId), id)] ??
      this.#ephemeral.find((message) => message.id === id)
    );
  }

  message(channelId: string, id: string): Message {
    const message = this.findMessage(channelId, id);
    if (!message) throw new DiscordError(10008);
    return message;
  }

  addMessage(message: Message): Message {
    if (message.onlyFor) this.#ephemeral.push(message);
    else {
      this.state.messages[message.channelId] ??= [];
      this.state.messages[message.channelId]?.push(message);
      const channel = this.channel(message.channelId);
      const counted = countsIn(channel, message)
        ? { ...channel, messageCount: channel.messageCount + 1, totalSent: channel.totalSent + 1 }
        : channel;
      this.state.channels[channel.id] = { ...counted, lastMessageId: message.id };
    }
    this.typing.end(message.channelId, message.authorId);
    this.announce({ type: "message-created", message });
    return message;
  }

  changeMessage(message: Message): Message {
    const list = message.onlyFor ? this.#ephemeral : (this.state.messages[message.channelId] ?? []);
    const position = message.onlyFor
      ? list.findIndex(({ id }) => id === message.id)
      : positionOf(this.messages(message.channelId), message.id);
    list[position] = message;
    this.announce({ type: "message-edited", message });
    return message;
  }

  removeMessage(message: Message): void {
    this.#takeOut(message);
    this.announce({ type: "message-deleted", message });
  }

  removeMessages(channelId: string, messages: readonly Message[]): void {
    for (const message of messages) this.#takeOut(message);
    this.announce({ type: "messages-deleted", channel: this.channel(channelId), messages });
  }

  #takeOut(message: Message): void {
    if (message.onlyFor) {
      this.#ephemeral.splice(this.#ephemeral.indexOf(message), 1);
      return;
    }
    this.state.messages[message.channelId]?.splice(positionOf(this.messages(message.channelId), message.id), 1);
    const channel = this.channel(message.channelId);
    if (countsIn(channel, message)) {
      this.state.channels[channel.id] = { ...channel, messageCount: channel.messageCount - 1 };
    }
  }

  // Typing and interactions

  startTyping(channelId: string, userId: string): void {
    this.typing.start(channelId, userId);
    this.announce({ type: "typing", channelId, userId });
    // Whoever waits for it to end would otherwise hear of nothing.
    setTimeout(() => this.announce({ type: "typing-over" }), typingMs).unref();
  }

  addInteraction(interaction: Interaction): Interaction {
    this.interactions.set(interaction.token, interaction);
    this.announce({ type: "interaction-created", interaction });
    return interaction;
  }

  changeInteraction(token: string, change: Partial<Interaction>): Interaction {
    const known = this.interactions.get(token);
    if (!known) throw new DiscordError(10062);
    const interaction = { ...known, ...change };
    this.interactions.set(token, interaction);
    this.announce({ type: "interaction-answered", interaction });
    return interaction;
  }
}

/** A thread counts its messages, but not the one that it began with. */
function countsIn(channel: Channel, message: Message): channel is Thread {
  return isThread(channel) && message.type !== MessageType.ThreadStarterMessage && message.id !== channel.id;
}
