import { Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { DiscordError } from "../world/discord-error.ts";
import { applicationRoutes } from "./application-routes.ts";
import { channelRoutes } from "./channel-routes.ts";
import { commandRoutes } from "./command-routes.ts";
import { guildRoutes } from "./guild-routes.ts";
import { interactionRoutes } from "./interaction-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { RateLimited } from "./rate-limits.ts";
import type { Failure } from "./request-faults.ts";
import type { RestEnvironment, RestParts } from "./rest-parts.ts";
import { routeOf } from "./route.ts";
import { threadRoutes } from "./thread-routes.ts";

const base = "/api/v10";

/** These carry their right in their path. */
const withoutToken = /^\/(gateway$|interactions\/|webhooks\/)/;

/** The bot's side: counted, authenticated, limited and, if a test wishes, failing; then its routes. */
export function restApp(parts: RestParts): Hono<RestEnvironment> {
  const { access, counters, faults, limits, onUnknown } = parts;
  const app = new Hono<RestEnvironment>().basePath(base);

  app.use(async (context, next) => {
    const path = context.req.path.slice(base.length);
    const route = routeOf(context.req.method, path);
    counters.request(route.name);
    const delay = faults.takeDelay(route);
    if (delay) await new Promise((resolve) => setTimeout(resolve, delay.ms).unref());
    const authorization = context.req.header("authorization");
    if (!withoutToken.test(path) && !access.accepts(authorization?.replace(/^Bot /, ""))) {
      return context.json({ message: "401: Unauthorized", code: 0 }, 401);
    }
    const headers = limits.take(route);
    const failure = faults.takeFailure(route);
    if (failure && !failure.carriedOut) return fail(failure, context.env.incoming.socket);
    await next();
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
    if (failure) context.res = fail(failure, context.env.incoming.socket);
    return undefined;
  });

  app.route("/", applicationRoutes(parts));
  app.route("/", channelRoutes(parts));
  app.route("/", messageRoutes(parts));
  app.route("/", threadRoutes(parts));
  app.route("/", guildRoutes(parts));
  app.route("/", commandRoutes(parts));
  app.route("/", interactionRoutes(parts));

  app.all("*", (context) => {
    const { name } = routeOf(context.req.method, context.req.path.slice(base.length));
    counters.notKnown(name);
    onUnknown(name);
    return context.json({ message: `The sandbox doesn't have the route ${name}`, code: 0, route: name }, 501);
  });

  app.onError((error, context) => {
    if (error instanceof RateLimited) {
      counters.count("rateLimited");
      return context.json(error.toBody(), 429, error.headers);
    }
    if (error instanceof DiscordError) return context.json(error.toBody(), error.status as ContentfulStatusCode);
    throw error;
  });
  return app;

  function fail(failure: Failure, socket: { destroy(): void }): Response {
    const { status, code = 0, message = "A fault of the sandbox", retryAfter = 1, global = false } = failure;
    if (status === "cut") socket.destroy();
    if (status === 429) throw new RateLimited({ retryAfter, isGlobal: global });
    return Response.json({ message, code }, { status: status === "cut" ? 500 : status });
  }
}
