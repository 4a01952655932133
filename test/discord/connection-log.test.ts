import { Events, RESTEvents } from "discord.js";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/discord/client.ts";
import { logConnection } from "../../src/discord/connection-log.ts";
import { logLines } from "./support/log-lines.ts";

describe("the connection to Discord", () => {
  it("is told of in the log, each thing by its weight, and not its end in order", () => {
    const client = createClient({});
    const { log, lines } = logLines();
    let isOpen = true;
    logConnection(client, log, () => isOpen);
    client.emit(Events.Error, new Error("broken"));
    client.emit(Events.ShardError, new Error("cut"), 0);
    client.emit(Events.ShardReconnecting, 0);
    client.emit(Events.ShardReconnecting, 0);
    client.emit(Events.ShardResume, 0, 3);
    client.emit(Events.ShardReconnecting, 0);
    client.emit(Events.ShardReady, 0, undefined);
    client.emit(Events.ShardReady, 1, undefined);
    client.emit(Events.Warn, "hm");
    client.rest.emit(RESTEvents.RateLimited, { route: "/", global: false, timeToReset: 5 } as never);
    isOpen = false;
    client.emit(Events.ShardReconnecting, 0);
    expect(lines).toEqual([
      "error: discord.js reports an error",
      "warn: the connection to Discord has a fault",
      "info: connecting to Discord again",
      "info: connected to Discord again",
      "info: connecting to Discord again",
      "info: connected to Discord again",
      "warn: discord.js warns",
      "debug: Discord's limit makes a request wait",
    ]);
  });
});
