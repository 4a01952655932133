import { timingSafeEqual } from "node:crypto";
import { GatewayIntentBits } from "discord-api-types/v10";
import { newSecret } from "./world/state.ts";

/** The intents that have to be switched on in the developer portal. */
const privileged = {
  GuildMembers: GatewayIntentBits.GuildMembers,
  GuildPresences: GatewayIntentBits.GuildPresences,
  MessageContent: GatewayIntentBits.MessageContent,
} as const;

export type PrivilegedIntent = keyof typeof privileged;

/** What the bot has to show and what its owner has switched on for it. */
export class BotAccess {
  readonly token: string;
  readonly intents: Set<PrivilegedIntent>;

  constructor(token: string, intents: readonly PrivilegedIntent[]) {
    this.token = token;
    this.intents = new Set(intents);
  }

  accepts(token: string | undefined): boolean {
    return token !== undefined && isSameSecret(token, this.token);
  }

  /** Whether all the intents asked for are allowed. */
  allows(intents: number): boolean {
    return Object.entries(privileged).every(
      ([name, bit]) => !(intents & bit) || this.intents.has(name as PrivilegedIntent),
    );
  }
}

/**
 * A token as Discord makes them, which begins with the bot's id in base64. Not anything random: discord.js takes a "Bot"
 * or "Bearer" off its beginning, and one token in 30,000 would be refused.
 */
export function newBotToken(botId: string): string {
  return `${Buffer.from(botId).toString("base64url")}.${newSecret()}`;
}

/** Compares without telling by its duration how much of the secret was right. */
export function isSameSecret(given: string, secret: string): boolean {
  const [first, second] = [Buffer.from(given), Buffer.from(secret)];
  return first.length === second.length && timingSafeEqual(first, second);
}
