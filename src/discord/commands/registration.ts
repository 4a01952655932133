import { isDeepStrictEqual } from "node:util";
import { type APIApplicationCommand, ApplicationCommandType, type Client, Routes } from "discord.js";
import type { RequestBudget } from "../request-budget.ts";
import type { CommandDefinition } from "./command.ts";

/**
 * Registers the commands with Discord if they differ from what is registered (a day has room for 200 registrations).
 * Resolves to whether they were.
 */
export async function registerCommands(
  { rest, application }: Client<true>,
  definitions: readonly CommandDefinition[],
  budget: RequestBudget,
): Promise<boolean> {
  const route = Routes.applicationCommands(application.id);
  const registered = (await budget.run("commands", () => rest.get(route))) as readonly APIApplicationCommand[];
  if (isDeepStrictEqual(registered.map(normalised).sort(byName), definitions.map(normalised).sort(byName)))
    return false;
  await budget.run("commands", () => rest.put(route, { body: definitions }));
  return true;
}

/** What can be told apart about a command, with Discord's defaults filled in. */
export function normalised(
  command: CommandDefinition | APIApplicationCommand,
): Record<string, unknown> & { name: string } {
  return {
    name: command.name,
    type: command.type ?? ApplicationCommandType.ChatInput,
    description: command.description,
    options: (command.options ?? []).map(withoutDefaults),
    contexts: command.contexts ? [...command.contexts].sort() : null,
    permissions: command.default_member_permissions ?? null,
    nsfw: command.nsfw ?? false,
  };
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}

/** Discord sends back what was left out as `false`, `null` or an empty list. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => {
    return item !== undefined && item !== null && item !== false && !(Array.isArray(item) && item.length === 0);
  });
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutDefaults(item)]));
}
