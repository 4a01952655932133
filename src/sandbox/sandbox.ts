import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { ChannelType, PermissionFlagsBits } from "discord-api-types/v10";
import { Hono } from "hono";
import { BotAccess, type PrivilegedIntent } from "./bot-access.ts";
import { type Counters, TrafficCounters } from "./counters.ts";
import { refusal } from "./doors.ts";
import { Faults } from "./faults.ts";
import { Gateway } from "./gateway/gateway.ts";
import { Actor } from "./people/actor.ts";
import { type ChannelReference, findChannel, lookForChannel } from "./people/channel-reference.ts";
import { channelText } from "./people/channel-text.ts";
import { nextMessage, type Patience, until } from "./people/waiting.ts";
import { RateLimits } from "./rest/rate-limits.ts";
import { RequestFaults } from "./rest/request-faults.ts";
import { restApp } from "./rest/rest.ts";
import type { RestEnvironment } from "./rest/rest-parts.ts";
import { openDirectChannel } from "./world/channels.ts";
import type { PermissionName } from "./world/permissions.ts";
import {
  type Channel,
  type DirectChannel,
  type Guild,
  type GuildChannel,
  type Message,
  newMember,
  newSecret,
  newState,
  type Role,
  type SandboxState,
  type User,
} from "./world/state.ts";
import { readState, StateFile } from "./world/state-file.ts";
import { World } from "./world/world.ts";

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
  const token = (options.keepToken && state.botToken) || newSecret();
  if (options.keepToken) state.botToken = token;
  else delete state.botToken;
  const world = new World(state);
  world.nonceMs = options.nonceMs ?? world.nonceMs;
  const sandbox = new Sandbox(world, token, options);
  await sandbox.listen(options.port ?? 0);
  return sandbox;
}

export class Sandbox {
  /** For discord.js: `rest: { api: sandbox.api }`. */
  get api(): string {
    return `${this.#world.origin}/api`;
  }
  /** What the bot logs in with. */
  readonly botToken: string;
  /** What opens the people's side over HTTP, new with every start. */
  readonly key = newSecret();
  readonly faults: Faults;
  readonly counters: Counters;
  readonly #world: World;
  readonly #gateway: Gateway;
  readonly #server: Server;
  readonly #file: StateFile | undefined;

  constructor(world: World, token: string, options: SandboxOptions) {
    const onUnknown = options.onUnknown ?? ((what) => process.stderr.write(`sandbox: it doesn't have ${what}\n`));
    const access = new BotAccess(token, options.intents ?? ["MessageContent"]);
    const counters = new TrafficCounters(() => world.announce({ type: "traffic" }));
    const requests = new RequestFaults();
    const gateway = new Gateway({ world, access, counters, heartbeatMs: options.heartbeatMs ?? 41_250, onUnknown });
    const app = new Hono<RestEnvironment>();
    app.use(async (context, next) => {
      const headers = context.env.incoming.headers;
      const reason = refusal({ method: context.req.method, headers, isUpgrade: false }, this.#port);
      return reason ? context.json({ message: reason, code: 0 }, 403) : next();
    });
    const limits = new RateLimits(options.limits ?? true);
    const gatewayUrl = () => gateway.url;
    app.route("/", restApp({ world, access, counters, limits, faults: requests, gatewayUrl, onUnknown }));
    this.#world = world;
    this.botToken = token;
    this.counters = counters;
    this.#gateway = gateway;
    this.faults = new Faults({ world, gateway, access, requests });
    this.#server = createAdaptorServer({ fetch: app.fetch }) as Server;
    this.#server.on("upgrade", (request, socket, head) => {
      const { headers, url = "/" } = request;
      const reason = refusal({ method: "GET", headers, isUpgrade: true }, this.#port);
      if (reason) return socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
      if (!url.startsWith("/gateway")) return socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
      return gateway.sockets.handleUpgrade(request, socket, head, (upgraded) =>
        gateway.sockets.emit("connection", upgraded, request),
      );
    });
    this.#file = typeof options.state === "string" ? new StateFile(options.state, world) : undefined;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#world.origin = `http://127.0.0.1:${this.#port}`;
  }

  /** Everything as plain data, to begin another sandbox with. */
  get state(): SandboxState {
    return structuredClone(this.#world.state);
  }

  get bot(): User {
    return this.#world.bot;
  }

  /** The first server. */
  get guild(): Guild {
    const [guild] = Object.values(this.#world.state.guilds);
    if (!guild) throw new Error("the sandbox has no server");
    return guild;
  }

  get general(): Channel {
    return this.channel("general");
  }

  /** Who owns the first server. */
  get owner(): Actor {
    return new Actor(this.#world, this.#world.user(this.guild.ownerId));
  }

  /** Somebody of this name: who is known already, or a new member of the first server. */
  member(name: string, options: MemberOptions = {}): Actor {
    const { bot = false, roles = [], permissions } = options;
    const known = this.#world.userByName(name);
    const user = known ?? this.#world.putUser({ id: this.#world.newId(), name, bot });
    const guild = this.#world.guild(options.guild?.id ?? this.guild.id);
    const member = guild.members[user.id] ?? this.#world.putMember(guild.id, newMember(user.id));
    const added = roles.map((role) => this.#role(guild, role).id);
    if (permissions) added.push(this.createRole(`${name}'s own`, { permissions, guild }).id);
    const missing = added.filter((id) => !member.roles.includes(id));
    if (missing.length > 0) this.#world.putMember(guild.id, { ...member, roles: [...member.roles, ...missing] });
    return new Actor(this.#world, user);
  }

  #role(guild: Guild, name: string): Role {
    return (
      Object.values(this.#world.guild(guild.id).roles).find((role) => role.name === name) ??
      this.createRole(name, { guild })
    );
  }

  createRole(name: string, options: RoleOptions = {}): Role {
    const guild = this.#world.guild(options.guild?.id ?? this.guild.id);
    const bits = (options.permissions ?? []).reduce((all, permission) => all | PermissionFlagsBits[permission], 0n);
    return this.#world.putRole(guild.id, {
      id: this.#world.newId(),
      name,
      permissions: String(bits),
      position: Object.keys(guild.roles).length,
      mentionable: options.mentionable ?? false,
    });
  }

  /** A channel or thread by name or id, as it is now. */
  channel(reference: ChannelReference): Channel {
    return findChannel(this.#world, reference);
  }

  /** The same, or nothing if there is none. */
  findChannel(reference: ChannelReference): Channel | undefined {
    return lookForChannel(this.#world, reference);
  }

  createChannel(name: string, options: { readonly guild?: { readonly id: string } } = {}): GuildChannel {
    return this.#createChannel(name, ChannelType.GuildText, options.guild);
  }

  createForum(name: string, options: { readonly guild?: { readonly id: string } } = {}): GuildChannel {
    return this.#createChannel(name, ChannelType.GuildForum, options.guild);
  }

  #createChannel(name: string, type: GuildChannel["type"], guild: { readonly id: string } = this.guild): GuildChannel {
    return this.#world.addChannel<GuildChannel>({
      type,
      id: this.#world.newId(),
      guildId: guild.id,
      name,
      topic: null,
      position: this.#world.channelsOf(guild.id).length,
      overwrites: [],
      lastMessageId: null,
    });
  }

  /** The channel in which somebody and the bot write to each other alone. */
  directMessages(actor: { readonly id: string }): DirectChannel {
    return openDirectChannel(this.#world, actor.id, this.bot.id);
  }

  /** Oldest first; without what is ephemeral. */
  messages(channel: ChannelReference): readonly Message[] {
    return [...this.#world.messages(this.channel(channel).id)];
  }

  /** A channel as text, ephemeral answers included. */
  text(channel: ChannelReference): string {
    return channelText(this.#world, this.channel(channel).id);
  }

  /** Who is seen typing. */
  typingIn(channel: ChannelReference): readonly User[] {
    return this.#world.typingIn(this.channel(channel).id);
  }

  /** Waits until `read` gives something (not undefined, null or false); it is asked again whenever something happens. */
  until<Found>(read: () => Found | undefined | null | false, patience?: Patience): Promise<Found> {
    return until(this.#world, read, patience);
  }

  /** The next message that fits, as it is sent or as it becomes by an edit; what is there already doesn't count. */
  nextMessage(
    channel: ChannelReference,
    fits: (message: Message) => boolean = () => true,
    patience: Patience = {},
  ): Promise<Message> {
    const { id } = this.channel(channel);
    const describe = () => `no message that fits ${fits} came; the channel reads:\n${channelText(this.#world, id)}\n`;
    return nextMessage(this.#world, id, fits, patience, describe);
  }

  /** Ends every connection and saves. */
  async close(): Promise<void> {
    this.#gateway.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#file?.close();
  }
}

export interface MemberOptions {
  /** Roles by name; those that don't exist are made. */
  readonly roles?: readonly string[];
  /** What this member may do beyond everybody. */
  readonly permissions?: readonly PermissionName[];
  readonly bot?: boolean;
  /** Default: the first server. */
  readonly guild?: { readonly id: string };
}

export interface RoleOptions {
  readonly permissions?: readonly PermissionName[];
  readonly mentionable?: boolean;
  readonly guild?: { readonly id: string };
}
