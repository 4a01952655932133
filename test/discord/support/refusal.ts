import { DiscordAPIError } from "discord.js";

/** What discord.js throws when Discord refuses a request with this code. */
export function refusal(code: number, status = 404): DiscordAPIError {
  return new DiscordAPIError({ code, message: "no" }, code, status, "GET", "http://discord", { files: [], body: {} });
}
