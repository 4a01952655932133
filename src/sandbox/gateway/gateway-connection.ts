import { GatewayCloseCodes, GatewayOpcodes } from "discord-api-types/v10";
import { type RawData, WebSocket } from "ws";
import { isJsonObject } from "../json-object.ts";
import type { Gateway } from "./gateway.ts";
import type { GatewaySession } from "./gateway-session.ts";

/** One socket, from HELLO on: reads what the bot says and hands it to the session that it belongs to. */
export class GatewayConnection {
  readonly #gateway: Gateway;
  readonly #socket: WebSocket;
  #session: GatewaySession | undefined;
  /** Whoever is silent for longer than this has gone away. */
  #silence: NodeJS.Timeout;

  constructor(gateway: Gateway, socket: WebSocket) {
    this.#gateway = gateway;
    this.#socket = socket;
    this.#silence = this.#waitForHeartbeat();
    socket.on("message", (data) => this.#read(data));
    socket.on("error", () => socket.terminate());
    socket.on("close", (code) => {
      clearTimeout(this.#silence);
      if (!this.#session) return;
      this.#session.detach(socket);
      // Who says goodbye doesn't come back.
      if (code === 1000 || code === 1001) this.#gateway.forget(this.#session);
    });
    this.#send({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: gateway.heartbeatMs } });
  }

  #waitForHeartbeat(): NodeJS.Timeout {
    const late = () => this.#close(GatewayCloseCodes.SessionTimedOut, "Session timed out.");
    return setTimeout(late, this.#gateway.heartbeatMs * 2).unref();
  }

  #send(payload: object): void {
    this.#socket.send(JSON.stringify(payload));
  }

  #close(code: GatewayCloseCodes, reason: string): void {
    this.#socket.close(code, reason);
  }

  #read(data: RawData): void {
    // On whom it is being closed says nothing more.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const { op, d } = parse(String(data)) ?? {};
    switch (op) {
      case undefined:
        this.#undecodable();
        break;
      case GatewayOpcodes.Heartbeat:
        clearTimeout(this.#silence);
        this.#silence = this.#waitForHeartbeat();
        this.#send({ op: GatewayOpcodes.HeartbeatAck });
        break;
      case GatewayOpcodes.Identify:
        this.#identify(d);
        break;
      case GatewayOpcodes.Resume:
        this.#resume(d);
        break;
      case GatewayOpcodes.PresenceUpdate:
        break;
      default:
        this.#gateway.unknownOperation(op);
        this.#close(GatewayCloseCodes.UnknownOpcode, `The sandbox doesn't know operation ${op}.`);
    }
  }

  #undecodable(): void {
    this.#close(GatewayCloseCodes.DecodeError, "Error while decoding payload.");
  }

  #identify(data: unknown): void {
    const { token, intents } = isJsonObject(data) ? data : {};
    if (typeof token !== "string") this.#undecodable();
    else if (!this.#mayBegin(token)) return;
    else if (typeof intents !== "number" || !Number.isInteger(intents) || intents < 0) {
      this.#close(GatewayCloseCodes.InvalidIntents, "Invalid intent(s).");
    } else if (!this.#gateway.access.allows(intents)) {
      this.#close(GatewayCloseCodes.DisallowedIntents, "Disallowed intent(s).");
    } else this.#session = this.#gateway.begin(this.#socket, intents);
  }

  #resume(data: unknown): void {
    const { token, session_id, seq } = isJsonObject(data) ? data : {};
    if (typeof token !== "string" || typeof session_id !== "string" || typeof seq !== "number") {
      this.#undecodable();
      return;
    }
    if (!this.#mayBegin(token)) return;
    const session = this.#gateway.session(session_id);
    if (!session?.canResume(seq)) this.#send({ op: GatewayOpcodes.InvalidSession, d: false });
    else if (seq > session.sequence) this.#close(GatewayCloseCodes.InvalidSeq, "Invalid seq.");
    else {
      this.#session = session;
      this.#gateway.continue(session, this.#socket, seq);
    }
  }

  /** Once per socket, and with the right token. */
  #mayBegin(token: string): boolean {
    const isFirst = !this.#session;
    const isKnown = this.#gateway.access.accepts(token);
    if (!isFirst) this.#close(GatewayCloseCodes.AlreadyAuthenticated, "Already authenticated.");
    else if (!isKnown) this.#close(GatewayCloseCodes.AuthenticationFailed, "Authentication failed.");
    return isFirst && isKnown;
  }
}

/** A payload, if it is one. */
function parse(text: string): { op: number; d?: unknown } | undefined {
  try {
    const payload: unknown = JSON.parse(text);
    if (!isJsonObject(payload)) return undefined;
    const { op, d } = payload;
    return typeof op === "number" ? { op, d } : undefined;
  } catch {
    return undefined;
  }
}
