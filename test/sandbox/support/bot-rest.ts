import { REST } from "discord.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

/** discord.js' own REST client with the bot's token; it repeats nothing by itself. */
export function botRest(sandbox: Sandbox, token = sandbox.botToken): REST {
  return new REST({ api: sandbox.api, version: "10", retries: 0 }).setToken(token);
}
