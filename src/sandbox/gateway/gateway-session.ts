import { randomBytes } from "node:crypto";
import { GatewayDispatchEvents, GatewayOpcodes } from "discord-api-types/v10";
import type { WebSocket } from "ws";

/** How many events a session keeps for a RESUME; whoever missed more has to begin anew. */
const kept = 2_000;

/** How long a session without a connection can be resumed, in milliseconds. */
const resumableFor = 120_000;

/** What a bot has been told since it identified. It outlives its socket, so that a RESUME can tell what was missed. */
export class GatewaySession {
  readonly id = randomBytes(16).toString("hex");
  readonly intents: number;
  #socket: WebSocket | undefined;
  #sequence = 0;
  #alone: number | undefined;
  readonly #sent: { readonly sequence: number; readonly payload: string }[] = [];

  constructor(socket: WebSocket, intents: number) {
    this.#socket = socket;
    this.intents = intents;
  }

  get socket(): WebSocket | undefined {
    return this.#socket;
  }

  get sequence(): number {
    return this.#sequence;
  }

  dispatch(event: GatewayDispatchEvents, data: object): void {
    this.#sequence += 1;
    const payload = JSON.stringify({ op: GatewayOpcodes.Dispatch, s: this.#sequence, t: event, d: data });
    this.#sent.push({ sequence: this.#sequence, payload });
    if (this.#sent.length > kept) this.#sent.shift();
    this.#socket?.send(payload);
  }

  /** The socket is gone; from now on events wait. */
  detach(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#alone = Date.now();
  }

  /** Whether it has been without a connection for too long. */
  get isExpired(): boolean {
    return this.#alone !== undefined && Date.now() - this.#alone > resumableFor;
  }

  /** Whether everything after `sequence` can still be told. */
  canResume(sequence: number): boolean {
    const oldest = this.#sent[0]?.sequence ?? 1;
    return !this.isExpired && sequence >= oldest - 1;
  }

  resume(socket: WebSocket, sequence: number): void {
    this.#socket = socket;
    this.#alone = undefined;
    for (const missed of this.#sent) if (missed.sequence > sequence) socket.send(missed.payload);
    this.dispatch(GatewayDispatchEvents.Resumed, {});
  }
}
