import { GatewayDispatchEvents, GatewayIntentBits, GatewayOpcodes } from "discord.js";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

export interface Payload {
  readonly op: GatewayOpcodes;
  readonly s?: number;
  readonly t?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire as it is.
  readonly d: any;
}

/** All intents that are not privileged, and MessageContent. */
export const usualIntents =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.GuildMessageTyping |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.DirectMessageTyping |
  GatewayIntentBits.MessageContent;

/** A bot that speaks the gateway's protocol by hand and keeps all it is told. */
export class RawGateway {
  readonly received: Payload[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #sandbox: Sandbox;
  readonly #lookers = new Set<() => void>();

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#socket = new WebSocket(`${sandbox.origin.replace("http", "ws")}/gateway?v=10&encoding=json`);
    this.closed = new Promise((resolve) => this.#socket.on("close", resolve));
    this.#socket.on("message", (data) => {
      this.received.push(JSON.parse(String(data)));
      for (const look of this.#lookers) look();
    });
  }

  send(op: GatewayOpcodes, d: unknown): void {
    this.raw(JSON.stringify({ op, d }));
  }

  raw(text: string): void {
    this.#socket.send(text);
  }

  /** The first payload that fits, come or still to come. */
  first(fits: (payload: Payload) => boolean): Promise<Payload> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.received.find(fits);
        if (!found) return;
        this.#lookers.delete(look);
        resolve(found);
      };
      this.#lookers.add(look);
      look();
    });
  }

  operation(op: GatewayOpcodes): Promise<Payload> {
    return this.first((payload) => payload.op === op);
  }

  /** The data of the first event of this name. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async event(name: GatewayDispatchEvents): Promise<any> {
    return (await this.first(({ t }) => t === name)).d;
  }

  get events(): string[] {
    return this.received.flatMap(({ t }) => t ?? []);
  }

  async hello(): Promise<this> {
    await this.operation(GatewayOpcodes.Hello);
    return this;
  }

  async identify(intents: number = usualIntents, token = this.#sandbox.botToken): Promise<this> {
    await this.hello();
    this.send(GatewayOpcodes.Identify, { token, intents, properties: { os: "", browser: "", device: "" } });
    return this;
  }

  /** READY, and the first server if the intents bring one. */
  async ready(intents: number = usualIntents): Promise<string> {
    await this.identify(intents);
    const { session_id } = await this.event(GatewayDispatchEvents.Ready);
    if (intents & GatewayIntentBits.Guilds) await this.event(GatewayDispatchEvents.GuildCreate);
    return session_id;
  }

  async resume(session_id: string, seq: number, token = this.#sandbox.botToken): Promise<this> {
    await this.hello();
    this.send(GatewayOpcodes.Resume, { token, session_id, seq });
    return this;
  }

  /** Whatever was sent before this has been received after it. */
  async settle(): Promise<void> {
    const before = this.received.filter(({ op }) => op === GatewayOpcodes.HeartbeatAck).length;
    this.send(GatewayOpcodes.Heartbeat, null);
    await this.first(
      ({ op }) =>
        op === GatewayOpcodes.HeartbeatAck &&
        this.received.filter((payload) => payload.op === GatewayOpcodes.HeartbeatAck).length > before,
    );
  }

  terminate(): void {
    this.#socket.terminate();
  }

  async goodbye(): Promise<void> {
    this.#socket.close(1000);
    await this.closed;
  }
}
