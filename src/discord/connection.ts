import {
  type Client,
  DiscordAPIError,
  DiscordjsError,
  DiscordjsErrorCodes,
  Events,
  GatewayCloseCodes,
} from "discord.js";
import { ThreadkeeperError } from "../errors.ts";
import { destroyClient } from "./client.ts";

/**
 * Logs in and resolves when the client is ready and knows its servers.
 * @throws ThreadkeeperError `DISCORD_TOKEN_REFUSED`, `DISCORD_INTENT_REFUSED`, `DISCORD_UNREACHABLE`, `DISCORD_FAILED`;
 * the client is then destroyed
 */
export async function connect(client: Client, token: string, readyWithinMs = 45_000): Promise<Client<true>> {
  let closeCode: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const onClose = ({ code }: { readonly code: number }) => {
    closeCode = code;
  };
  client.on(Events.ShardDisconnect, onClose);
  try {
    const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not ready within ${readyWithinMs / 1000} s`)), readyWithinMs);
    });
    return await Promise.race([client.login(token).then(() => ready), late]);
  } catch (error) {
    await destroyClient(client);
    throw connectionError(closeCode, error);
  } finally {
    clearTimeout(timer);
    client.off(Events.ShardDisconnect, onClose);
  }
}

/** Why Discord doesn't let the bot in, with the step to take. */
export function connectionError(closeCode: number | undefined, cause?: unknown): ThreadkeeperError {
  const fields = { closeCode };
  if (closeCode === GatewayCloseCodes.AuthenticationFailed || isTokenRefused(cause)) {
    const step =
      "copy it again from the Discord developer portal (your application, Bot, Reset Token) into DISCORD_TOKEN";
    return new ThreadkeeperError("DISCORD_TOKEN_REFUSED", `Discord refuses the bot's token: ${step}`, {
      fields,
      cause,
    });
  }
  if (closeCode === GatewayCloseCodes.DisallowedIntents) {
    const step =
      'in the Discord developer portal open your application, then Bot, and switch on "Message Content Intent" under Privileged Gateway Intents; then start again';
    return new ThreadkeeperError("DISCORD_INTENT_REFUSED", `Discord does not let the bot read messages: ${step}`, {
      fields,
      cause,
    });
  }
  if (closeCode !== undefined || cause instanceof DiscordAPIError) {
    const what = closeCode === undefined ? "refused the connection" : `closed the connection with code ${closeCode}`;
    return new ThreadkeeperError("DISCORD_FAILED", `Discord ${what}`, { fields, cause });
  }
  const step = "check this machine's network, and DISCORD_API_URL if it is set, then start again";
  return new ThreadkeeperError("DISCORD_UNREACHABLE", `Discord can't be reached: ${step}`, { fields, cause });
}

function isTokenRefused(error: unknown): boolean {
  if (error instanceof DiscordAPIError) return error.status === 401;
  return error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid;
}
