// Over 250 lines: it is one thing, the sandbox's table of contents, and each entry is a line or two.
import { ChannelType } from "discord-api-types/v10";
import { BotAccess, newBotToken, type PrivilegedIntent } from "./bot-access.ts";
import { type Counters, TrafficCounters } from "./counters.ts";
import { Faults } from "./faults.ts";
import { Gateway } from "./gateway/gateway.ts";
import { Actor } from "./people/actor.ts";
import { type ChannelReference, findChannel, lookForChannel } from "./people/channel-reference.ts";
import { channelText, messageText } from "./people/channel-text.ts";
import { nextMessage, type Patience, until } from "./people/waiting.ts";
import { RateLimits } from "./rest/rate-limits.ts";
import { RequestFaults } from "./rest/request-faults.ts";
import { SandboxServer } from "./server.ts";
import {
  changeRole,
  createGuild,
  createGuildChannel,
  createRole,
  type InGuild,
  joinAs,
  type MemberOptions,
  type RoleOptions,
} from "./world/building.ts";
import type { Change } from "./world/change.ts";
import { openDirectChannel } from "./world/channels.ts";
import {
  type Channel,
  type DirectChannel,
  type Guild,
  type GuildChannel,
  type Message,
  newSecret,
  newState,
  type Role,
  type SandboxState,
  type Thread,
  type User,
} from "./world/state.ts";
import { readState, StateFile } from "./world/state-file.ts";
import { World } from "./world/world.ts";

export type { RunningInteraction } from "./people/running-interaction.ts";
export { DiscordError } from "./world/discord-error.ts";
export type {
  Actor,
  Change,
  Channel,
  ChannelReference,
  Counters,
  DirectChannel,
  Faults,
  Guild,
  GuildChannel,
  MemberOptions,
  Message,
  Patience,
  PrivilegedIntent,
  Role,
  RoleOptions,
  SandboxState,
  User,
};

export interface SandboxOptions {
  /** Default 0: any that is free. */
  readonly port?: number;
  /** A file that is read if it exists and kept up to date, or a state to begin with. Default: a new one, not kept. */
  readonly state?: string | SandboxState;
  /** Whether rate limits hold; default true. */
  readonly limits?: boolean;
  /** How long a nonce is remembered, in milliseconds; default 180,000. */
  readonly nonceMs?: number;
  /** Milliseconds between a bot's heartbeats; default 41,250. */
  readonly heartbeatMs?: number;
  /** Default "Sandbox". */
  readonly guildName?: string;
  /** Default "Threadkeeper". */
  readonly botName?: string;
  /** The member who owns the server; default "Ada". */
  readonly ownerName?: string;
  readonly applicationId?: string;
  /** The privileged intents that are switched on; default: MessageContent. */
  readonly intents?: readonly PrivilegedIntent[];
  /** Keeps the bot's token in the state, for a bot that outlives the sandbox. Default: each start has its own. */
  readonly keepToken?: boolean;
  /** Hears of what the sandbox doesn't have; default: a line on standard error. */
  readonly onUnknown?: (what: string) => void;
}

/** Starts a small Discord on this machine: REST, gateway and people, on 127.0.0.1 only. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const given = typeof options.state === "string" ? await readState(options.state) : options.state;
  const { guildName = "Sandbox", botName = "Threadkeeper", ownerName = "Ada", applicationId } = options;
  // A state that was handed in stays its owner's.
  const state = structuredClone(given ?? newState({ guildName, botName, ownerName, applicationId }));
  const token = (options.keepToken && state.botToken) || newBotToken(state.botId);
  if (options.keepToken) state.botToken = token;
  else delete state.botToken;
  const sandbox = new Sandbox(new World(state, options.nonceMs), token, options);
  await sandbox.listen(options.port ?? 0);
  return sandbox;
}

/** A running sandbox, as tests and the terminal use it. */
export class Sandbox {
  /** What the bot logs in with. */
  readonly botToken: string;
  /** What opens the people's side over HTTP, new with every start. */
  readonly key = newSecret();
  readonly faults: Faults;
  readonly counters: Counters;
  readonly #world: World;
  readonly #server: SandboxServer;
  readonly #file: StateFile | undefined;

  constructor(world: World, botToken: string, options: SandboxOptions) {
    const {
      onUnknown = (what) => process.stderr.write(`sandbox: it doesn't have ${what}\n`),
      intents = ["MessageContent"],
      heartbeatMs = 41_250,
    } = options;
    const access = new BotAccess(botToken, intents);
    const counters = new TrafficCounters(() => world.announce({ type: "traffic" }));
    const faults = new RequestFaults();
    const gateway = new Gateway({ world, access, counters, heartbeatMs, onUnknown });
    const limits = new RateLimits(options.limits ?? true);
    this.#file = typeof options.state === "string" ? new StateFile(options.state, world) : undefined;
    this.#world = world;
    this.botToken = botToken;
    this.counters = counters;
    this.faults = new Faults({ world, gateway, access, requests: faults });
    this.#server = new SandboxServer({
      world,
      access,
      counters,
      faults,
      gateway,
      limits,
      onUnknown,
      peopleKey: this.key,
      saved: async () => this.#file?.saved(),
    });
  }

  /** Called once, by `startSandbox`. */
  listen(port: number): Promise<void> {
    return this.#server.listen(port);
  }

  /** Ends every connection and saves. */
  async close(): Promise<void> {
    await this.#server.close();
    await this.#file?.close();
  }

  /** Where everything is: `http://127.0.0.1:port`. */
  get origin(): string {
    return this.#world.origin;
  }

  /** For discord.js: `rest: { api: sandbox.api }`. */
  get api(): string {
    return `${this.#world.origin}/api`;
  }

  /** Everything as plain data, to begin another sandbox with. */
  get state(): SandboxState {
    return structuredClone(this.#world.state);
  }

  // Who and what is there

  get bot(): User {
    return this.#world.bot;
  }

  /** The first server. */
  get guild(): Guild {
    const [guild] = Object.values(this.#world.state.guilds);
    if (!guild) throw new Error("the sandbox has no server");
    return guild;
  }

  /** The first server's first channel. */
  get general(): GuildChannel {
    const [channel] = this.#world.channelsOf(this.guild.id);
    if (!channel) throw new Error("the sandbox has no channel");
    return channel;
  }

  /** Who owns the first server. */
  get owner(): Actor {
    return new Actor(this.#world, this.#world.user(this.guild.ownerId));
  }

  /** Somebody of this name: who is known already, or a new member. */
  member(name: string, options: MemberOptions = {}): Actor {
    return new Actor(this.#world, joinAs(this.#world, name, options));
  }

  createRole(name: string, options: RoleOptions = {}): Role {
    return createRole(this.#world, name, options);
  }

  /** Gives a role, also the bot's own or `@everyone`, other permissions than it had. */
  changeRole(role: { readonly id: string }, options: Omit<RoleOptions, "guild">): Role {
    return changeRole(this.#world, role.id, options);
  }

  createChannel(name: string, place: InGuild = {}): GuildChannel {
    return createGuildChannel(this.#world, name, ChannelType.GuildText, place);
  }

  createForum(name: string, place: InGuild = {}): GuildChannel {
    return createGuildChannel(this.#world, name, ChannelType.GuildForum, place);
  }

  /** Another server with the bot in it, of the same owner. */
  createGuild(name: string): Guild {
    return createGuild(this.#world, name, this.owner.id);
  }

  /** The channel in which somebody and the bot write to each other alone. */
  directMessages(actor: { readonly id: string }): DirectChannel {
    return openDirectChannel(this.#world, actor.id, this.bot.id);
  }

  // What can be read

  /** A channel or thread as it is now. */
  channel(reference: ChannelReference): Channel {
    return findChannel(this.#world, reference);
  }

  /** The same, or nothing if there is none. */
  findChannel(reference: ChannelReference): Channel | undefined {
    return lookForChannel(this.#world, reference);
  }

  /** Oldest first; without what is ephemeral. */
  messages(channel: ChannelReference): readonly Message[] {
    return [...this.#world.messages(this.channel(channel).id)];
  }

  /** A channel as text, ephemeral answers included. */
  text(channel: ChannelReference): string {
    return channelText(this.#world, this.channel(channel).id);
  }

  /** One message as it stands in its channel's text. */
  messageText(message: Message): string {
    return messageText(this.#world, message);
  }

  /** Every thread, oldest first, archived ones included. */
  threads(): Thread[] {
    return this.#world.guildsOf(this.bot.id).flatMap(({ id }) => this.#world.threadsOf(id).toReversed());
  }

  /** Whether typing is seen anywhere. */
  get isAnybodyTyping(): boolean {
    return this.#world.typing.userIds().length > 0;
  }

  /** Who is seen typing. */
  typingIn(channel: ChannelReference): readonly User[] {
    return this.#world.typing.userIds(this.channel(channel).id).map((id) => this.#world.user(id));
  }

  // Waiting

  /** Calls `listener` after everything that happens; returns how to stop. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#world.onChange(listener);
  }

  /** Waits until `read` gives something (not undefined, null or false); it is asked again whenever something happens. */
  until<Found>(read: () => Found | undefined | null | false, patience: Patience = {}): Promise<Found> {
    return until(this.#world, read, patience);
  }

  /** The next message that fits, as it is sent or as it becomes by an edit; what is there already doesn't count. */
  nextMessage(
    channel: ChannelReference,
    fits: (message: Message) => boolean = () => true,
    patience: Patience = {},
  ): Promise<Message> {
    return nextMessage(this.#world, this.channel(channel).id, fits, patience);
  }
}
