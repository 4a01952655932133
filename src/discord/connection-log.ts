import { type Client, Events, RESTEvents } from "discord.js";
import type { Logger } from "../log.ts";

/** Logs what becomes of the connection to Discord. `isOpen`: the bot does not leave by itself. */
export function logConnection(client: Client, log: Logger, isOpen: () => boolean): void {
  client.on(Events.Error, (error) => log.error({ err: error }, "discord.js reports an error"));
  client.on(Events.ShardError, (error) => log.warn({ err: error }, "the connection to Discord has a fault"));
  /** Connections that are being sought: discord.js tells of each try, twice a second. */
  const sought = new Set<number>();
  client.on(Events.ShardReconnecting, (shard) => {
    // discord.js says so of a shard that leaves in order, too.
    if (isOpen() && !sought.has(shard)) log.info("connecting to Discord again");
    sought.add(shard);
  });
  const found = (shard: number, how: object): void => {
    if (sought.delete(shard)) log.info(how, "connected to Discord again");
  };
  client.on(Events.ShardResume, (shard, replayed) => found(shard, { replayed }));
  client.on(Events.ShardReady, (shard) => found(shard, { anew: true }));
  client.rest.on(RESTEvents.RateLimited, ({ route, global, timeToReset }) => {
    log.debug({ route, global, waitMs: timeToReset }, "Discord's limit makes a request wait");
  });
  client.on(Events.Warn, (warning) => log.warn({ warning }, "discord.js warns"));
}
