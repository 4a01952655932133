import { randomBytes } from "node:crypto";
import {
  type APIApplicationCommand,
  type APIEmbed,
  type APIMessageTopLevelComponent,
  type APIOverwrite,
  ChannelType,
  type MessageType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import { Snowflakes } from "./snowflake.ts";

/**
 * Everything that a sandbox knows and that survives it, as plain JSON. A change never alters a record: it puts a new
 * one in its place, so that whoever holds a message or a thread holds it as it was.
 */
export interface SandboxState {
  readonly format: 1;
  lastId: string;
  readonly botId: string;
  /** The bot's token, kept only if the sandbox was told to (`keepToken`). */
  botToken?: string;
  readonly users: Record<string, User>;
  readonly guilds: Record<string, Guild>;
  readonly channels: Record<string, Channel>;
  /** By channel, oldest first. */
  readonly messages: Record<string, Message[]>;
  commands: readonly APIApplicationCommand[];
  /** When commands were created, in milliseconds: 200 a day are allowed. */
  commandCreations: readonly number[];
  /** By author and nonce: what was sent with it, as it was sent. */
  readonly nonces: Record<string, Message>;
}

export interface User {
  readonly id: string;
  /** What is shown; unique in a sandbox, so that people can be called by it. */
  readonly name: string;
  readonly bot: boolean;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  /** A bit set, in decimal. */
  readonly permissions: string;
  readonly position: number;
  readonly mentionable: boolean;
  /** The bot whose own role it is. */
  readonly botId?: string;
}

export interface Member {
  readonly userId: string;
  readonly nick: string | null;
  readonly roles: readonly string[];
  readonly joinedAt: string;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly roles: Readonly<Record<string, Role>>;
  readonly members: Readonly<Record<string, Member>>;
}

export interface GuildChannel {
  readonly type: ChannelType.GuildText | ChannelType.GuildForum;
  readonly id: string;
  readonly guildId: string;
  readonly name: string;
  readonly topic: string | null;
  readonly position: number;
  readonly overwrites: readonly APIOverwrite[];
  readonly lastMessageId: string | null;
}

export interface DirectChannel {
  readonly type: ChannelType.DM;
  readonly id: string;
  /** The two who talk. */
  readonly userIds: readonly string[];
  readonly lastMessageId: string | null;
}

export interface Thread {
  readonly type: ChannelType.PublicThread | ChannelType.PrivateThread;
  readonly id: string;
  readonly guildId: string;
  readonly parentId: string;
  readonly name: string;
  readonly ownerId: string;
  readonly archived: boolean;
  readonly locked: boolean;
  readonly invitable: boolean;
  /** Minutes without a message; told to the bot, but time alone archives nothing here. */
  readonly autoArchive: number;
  readonly archiveChangedAt: string;
  readonly createdAt: string;
  /** When each member joined, by user id. */
  readonly members: Readonly<Record<string, string>>;
  /** Without the starter and what was deleted; `totalSent` counts the deleted too. */
  readonly messageCount: number;
  readonly totalSent: number;
  readonly lastMessageId: string | null;
}

export type Channel = GuildChannel | DirectChannel | Thread;

/** Who a message rings for, after `allowed_mentions` and permissions. */
export interface Pings {
  readonly users: readonly string[];
  readonly roles: readonly string[];
  readonly everyone: boolean;
}

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly contentType?: string;
  readonly size: number;
  readonly base64: string;
}

export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly type: MessageType;
  readonly content: string;
  readonly createdAt: string;
  readonly editedAt: string | null;
  readonly flags: number;
  readonly nonce?: string | number;
  readonly reference?: { readonly channelId: string; readonly messageId?: string };
  readonly attachments: readonly Attachment[];
  /** A link preview is one of type `link`. */
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** What it names now. An edit looks anew, but rings for nobody. */
  readonly mentions: Pings;
  /** Everybody that it has ever named so that Discord would ring: sending and every edit taken together. */
  readonly pinged: Pings;
  /** The interaction that it answers. */
  readonly interaction?: { readonly id: string; readonly userId: string; readonly command?: string };
  /** An ephemeral answer: the only person who sees it. */
  readonly onlyFor?: string;
}

export interface NewStateOptions {
  readonly guildName: string;
  readonly botName: string;
  readonly ownerName: string;
  readonly applicationId?: string | undefined;
}

const { ViewChannel, SendMessages, SendMessagesInThreads, ReadMessageHistory, EmbedLinks } = PermissionFlagsBits;
const { CreatePublicThreads, CreatePrivateThreads, AttachFiles, AddReactions, MentionEveryone } = PermissionFlagsBits;

/** What `@everyone` may do in a new server. */
const everyonePermissions =
  ViewChannel |
  SendMessages |
  SendMessagesInThreads |
  ReadMessageHistory |
  EmbedLinks |
  CreatePublicThreads |
  CreatePrivateThreads |
  AttachFiles |
  AddReactions |
  MentionEveryone |
  PermissionFlagsBits.UseApplicationCommands |
  PermissionFlagsBits.ChangeNickname;

export function newGuild(id: string, name: string, ownerId: string): Guild {
  const everyone: Role = {
    id,
    name: "@everyone",
    permissions: String(everyonePermissions),
    position: 0,
    mentionable: false,
  };
  return { id, name, ownerId, roles: { [id]: everyone }, members: {} };
}

export function newMember(userId: string, roles: readonly string[] = []): Member {
  return { userId, nick: null, roles, joinedAt: new Date().toISOString() };
}

/** The bot's own role, as inviting it makes one: what it may do beyond `@everyone` is nothing. */
export function botRole(id: string, bot: User, position: number): Role {
  return { id, name: bot.name, permissions: String(everyonePermissions), position, mentionable: false, botId: bot.id };
}

/** One server with one channel, its owner and the bot. */
export function newState(options: NewStateOptions): SandboxState {
  const ids = new Snowflakes();
  const bot: User = { id: options.applicationId ?? ids.next(), name: options.botName, bot: true };
  const owner: User = { id: ids.next(), name: options.ownerName, bot: false };
  const role = botRole(ids.next(), bot, 1);
  const blank = newGuild(ids.next(), options.guildName, owner.id);
  const guild: Guild = {
    ...blank,
    roles: { ...blank.roles, [role.id]: role },
    members: { [owner.id]: newMember(owner.id), [bot.id]: newMember(bot.id, [role.id]) },
  };
  const general: GuildChannel = {
    type: ChannelType.GuildText,
    id: ids.next(),
    guildId: guild.id,
    name: "general",
    topic: null,
    position: 0,
    overwrites: [],
    lastMessageId: null,
  };
  return {
    format: 1,
    lastId: general.id,
    botId: bot.id,
    users: { [bot.id]: bot, [owner.id]: owner },
    guilds: { [guild.id]: guild },
    channels: { [general.id]: general },
    messages: {},
    commands: [],
    commandCreations: [],
    nonces: {},
  };
}

/** A secret of this start: a bot's token, the people's key, an interaction's token. */
export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}
