import { GatewayDispatchEvents, GatewayOpcodes } from "discord-api-types/v10";
import { type WebSocket, WebSocketServer } from "ws";
import type { BotAccess } from "../bot-access.ts";
import type { TrafficCounters } from "../counters.ts";
import { apiApplication } from "../wire/api-application.ts";
import { apiUser } from "../wire/api-member.ts";
import { type Change, guildIdOf } from "../world/change.ts";
import { isGuildChannel } from "../world/channel-kinds.ts";
import { canView } from "../world/permissions.ts";
import type { World } from "../world/world.ts";
import { dispatchesOf } from "./dispatches.ts";
import { GatewayConnection } from "./gateway-connection.ts";
import { GatewaySession } from "./gateway-session.ts";

export interface GatewayOptions {
  readonly world: World;
  readonly access: BotAccess;
  readonly counters: TrafficCounters;
  /** Milliseconds between a bot's heartbeats. */
  readonly heartbeatMs: number;
  readonly onUnknown: (what: string) => void;
}

/** Tells every connected process of the bot what happens. https://discord.com/developers/docs/events/gateway */
export class Gateway {
  readonly access: BotAccess;
  readonly heartbeatMs: number;
  /** For upgrades that have passed the doors. */
  readonly sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1_024 });
  readonly #world: World;
  readonly #counters: TrafficCounters;
  readonly #onUnknown: (what: string) => void;
  readonly #sessions = new Map<string, GatewaySession>();
  /** The channels that the bot has seen so far: one that comes into sight brings its threads along. */
  #visible: Set<string>;
  readonly #stop: () => void;

  constructor({ world, access, counters, heartbeatMs, onUnknown }: GatewayOptions) {
    this.access = access;
    this.heartbeatMs = heartbeatMs;
    this.#world = world;
    this.#counters = counters;
    this.#onUnknown = onUnknown;
    this.#visible = this.#visibleChannels();
    this.sockets.on("connection", (socket) => {
      counters.count("connections");
      new GatewayConnection(this, socket);
    });
    this.#stop = world.onChange((change) => this.tell(change));
  }

  get #botId(): string {
    return this.#world.state.botId;
  }

  /** READY, then every server. */
  begin(socket: WebSocket, intents: number): GatewaySession {
    for (const known of this.#sessions.values()) if (known.isExpired) this.forget(known);
    const session = new GatewaySession(socket, intents);
    this.#sessions.set(session.id, session);
    const guilds = this.#world.guildsOf(this.#botId);
    const { flags } = apiApplication(this.#world, this.access.intents.has("MessageContent"));
    session.dispatch(GatewayDispatchEvents.Ready, {
      v: 10,
      user: apiUser(this.#world.bot),
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      session_type: "normal",
      resume_gateway_url: this.url,
      shard: [0, 1],
      application: { id: this.#botId, flags },
      private_channels: [],
      relationships: [],
    });
    for (const guild of guilds.filter(({ id }) => !this.#world.outages.has(id))) {
      this.#send(session, { type: "guild-available", guild });
    }
    this.#counters.count("identifies");
    return session;
  }

  get url(): string {
    return `${this.#world.origin.replace("http:", "ws:")}/gateway`;
  }

  session(id: string): GatewaySession | undefined {
    return this.#sessions.get(id);
  }

  continue(session: GatewaySession, socket: WebSocket, sequence: number): void {
    session.socket?.close(4000, "Resumed elsewhere.");
    session.resume(socket, sequence);
    this.#counters.count("resumes");
  }

  forget(session: GatewaySession): void {
    this.#sessions.delete(session.id);
  }

  unknownOperation(operation: number): void {
    this.#counters.notKnown(`gateway operation ${operation}`);
    this.#onUnknown(`gateway operation ${operation}`);
  }

  /** Tells every session of a change, as far as it concerns it. */
  tell(change: Change): void {
    if (!this.#isHeard(change)) return;
    for (const session of this.#sessions.values()) this.#send(session, change);
    if (change.type === "channel-updated" || change.type === "role-updated" || change.type === "member-updated") {
      this.#tellWhatCameIntoSight();
    } else if (change.type === "channel-created" || change.type === "channel-deleted") {
      this.#visible = this.#visibleChannels();
    }
  }

  /** Nothing is heard of servers that the bot isn't in, or that are out, but that it is so. */
  #isHeard(change: Change): boolean {
    if (change.type === "guild-unavailable" || change.type === "guild-left") return true;
    const guildId = guildIdOf(this.#world, change);
    if (guildId === undefined) return true;
    return !this.#world.outages.has(guildId) && this.#botId in this.#world.guild(guildId).members;
  }

  #send(session: GatewaySession, change: Change): void {
    for (const { event, data } of dispatchesOf(this.#world, change, this.#botId, session.intents)) {
      session.dispatch(event, data);
    }
  }

  #visibleChannels(): Set<string> {
    const channels = this.#world.guildsOf(this.#botId).flatMap(({ id }) => this.#world.channelsOf(id));
    return new Set(channels.filter((channel) => canView(this.#world, this.#botId, channel)).map(({ id }) => id));
  }

  #tellWhatCameIntoSight(): void {
    const before = this.#visible;
    this.#visible = this.#visibleChannels();
    for (const id of this.#visible) {
      const channel = this.#world.channel(id);
      if (!before.has(id) && isGuildChannel(channel)) this.tell({ type: "channel-in-sight", channel });
    }
  }

  /** Cuts every connection. A session that can't be resumed is forgotten, so that RESUME meets INVALID_SESSION. */
  dropSockets({ resumable }: { readonly resumable: boolean }): void {
    for (const session of [...this.#sessions.values()]) {
      session.socket?.terminate();
      if (!resumable) this.forget(session);
    }
  }

  /** Operation 7: asks everybody to come again. */
  askToReconnect(): void {
    const request = JSON.stringify({ op: GatewayOpcodes.Reconnect, d: null });
    for (const { socket } of this.#sessions.values()) socket?.send(request);
  }

  close(): void {
    this.#stop();
    for (const socket of this.sockets.clients) socket.terminate();
    this.sockets.close();
  }
}
