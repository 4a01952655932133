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
}

/** The one server, on 127.0.0.1, behind which everything is: the bot's side, the people's side, the gateway. */
export class SandboxServer {
  readonly #parts: ServerParts;
  readonly #server: Server;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    const app = new Hono<RestEnvironment>();
    app.use(async (context, next) => {
      const { headers } = context.env.incoming;
      const reason = refusal({ method: context.req.method, headers, isUpgrade: false }, this.#port);
      return reason ? context.json({ message: reason, code: 0 }, 403) : next();
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

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #unknown(what: string): void {
    this.#parts.counters.notKnown(what);
    this.#parts.onUnknown(what);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { sockets } = this.#parts.gateway;
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#parts.world.origin);
    const { encoding = "json", v = "10", ...more } = Object.fromEntries(searchParams);
    const isKnown =
      pathname.replace(/\/$/, "") === "/gateway" && encoding === "json" && v === "10" && !more["compress"];
    if (refusal({ method: "GET", headers: request.headers, isUpgrade: true }, this.#port)) {
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
    } else if (!isKnown) {
      this.#unknown(`gateway at ${request.url}`);
      socket.end("HTTP/1.1 501 Not Implemented\r\nconnection: close\r\n\r\n");
    } else sockets.handleUpgrade(request, socket, head, (upgraded) => sockets.emit("connection", upgraded, request));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#parts.world.origin = `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    this.#parts.gateway.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
