import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { attachmentRoutes } from "./attachment-links.ts";
import { refusal } from "./doors.ts";
import { peopleRoutes } from "./people/people-door.ts";
import { restApp } from "./rest/rest.ts";
import type { RestEnvironment, RestParts } from "./rest/rest-parts.ts";

export interface ServerParts extends RestParts {
  readonly peopleKey: string;
  /** Resolves when what has happened is kept. */
  readonly saved: () => Promise<void>;
}

/** The one server, on 127.0.0.1, behind which everything is: the bot's side, the people's side, the gateway. */
export class SandboxServer {
  readonly #parts: ServerParts;
  readonly #server: Server;
  /** Kept, since a server that closes doesn't tell it any more. */
  #port = 0;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    const app = new Hono<RestEnvironment>();
    app.use(async (context, next) => {
      const { headers } = context.env.incoming;
      const reason = refusal({ method: context.req.method, headers, isUpgrade: false }, this.#port);
      return reason ? context.json({ message: reason, code: 0 }, 403) : next();
    });
    // What a bot has been told was done is so for good, also where it is killed together with the sandbox.
    app.use(async (context, next) => {
      await next();
      if (context.req.method !== "GET") await parts.saved();
    });
    app.route("/", restApp(parts));
    app.route("/", peopleRoutes(parts.world, parts.peopleKey));
    app.route("/", attachmentRoutes(parts.world));
    app.notFound((context) => {
      const name = `${context.req.method} ${context.req.path}`;
      this.#unknown(name);
      return context.json({ message: `The sandbox doesn't have ${name}`, code: 0, route: name }, 501);
    });
    this.#server = createAdaptorServer({ fetch: app.fetch, createServer }) as Server;
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  #unknown(what: string): void {
    this.#parts.counters.notKnown(what);
    this.#parts.onUnknown(what);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node listens no more to a socket that it has handed over: what goes wrong with it would end the process.
    socket.on("error", () => socket.destroy());
    const { sockets } = this.#parts.gateway;
    const { url = "/", headers } = request;
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    if (refusal({ method: "GET", headers, isUpgrade: true }, this.#port)) refuse("403 Forbidden");
    else if (!URL.canParse(url, this.#parts.world.origin)) refuse("400 Bad Request");
    else if (!isGateway(new URL(url, this.#parts.world.origin))) {
      this.#unknown(`gateway at ${url}`);
      refuse("501 Not Implemented");
    } else sockets.handleUpgrade(request, socket, head, (upgraded) => sockets.emit("connection", upgraded, request));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    this.#parts.world.origin = `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    this.#parts.gateway.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The gateway as the sandbox speaks it: version 10, in JSON, not compressed. */
function isGateway({ pathname, searchParams }: URL): boolean {
  const { encoding = "json", v = "10", compress } = Object.fromEntries(searchParams);
  return pathname.replace(/\/$/, "") === "/gateway" && encoding === "json" && v === "10" && !compress;
}
