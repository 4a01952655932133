/** A request's path without what differs from one request to the next, for counting, limits and faults. */
export interface Route {
  /** As in `POST /channels/:id/messages`. */
  readonly name: string;
  /** The channel, server or webhook that limits are counted by. */
  readonly major: string;
}

/** `path` is what follows `/api/v10`. */
export function routeOf(method: string, path: string): Route {
  const name = path
    .replace(/^\/interactions\/\d+\/[^/]+/, "/interactions/:id/:token")
    .replace(/^\/webhooks\/\d+\/[^/]+/, "/webhooks/:id/:token")
    .replaceAll(/\/\d{5,}(?=\/|$)/g, "/:id");
  return { name: `${method} ${name}`, major: path.match(/^\/\w+\/(\d+)/)?.[1] ?? "" };
}
