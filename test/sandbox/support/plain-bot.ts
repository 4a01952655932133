import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

const { Guilds, GuildMessages, GuildMessageTyping, DirectMessages, MessageContent } = GatewayIntentBits;

/** A discord.js client as anybody would make one, connected to the sandbox; `ready` waits until it is logged in. */
export function plainBot(sandbox: Sandbox, intents: readonly GatewayIntentBits[] = []): Client {
  return new Client({
    intents: [Guilds, GuildMessages, GuildMessageTyping, DirectMessages, MessageContent, ...intents],
    partials: [Partials.Message, Partials.Channel],
    rest: { api: sandbox.api },
    enforceNonce: true,
  });
}

/** Logs in and resolves with the client when it is ready. */
export async function login(client: Client, token: string): Promise<Client<true>> {
  const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(token);
  return ready;
}
