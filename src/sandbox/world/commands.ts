import { type APIApplicationCommand, ApplicationCommandType, ApplicationIntegrationType } from "discord-api-types/v10";
import { isJsonObject, type JsonObject } from "../json-object.ts";
import { DiscordError, invalid } from "./discord-error.ts";
import { textLength } from "./text-length.ts";
import type { World } from "./world.ts";

/** What a bot sends to register a command. */
export type CommandDefinition = Partial<APIApplicationCommand>;

const limit = 100;
const creationsPerDay = 200;
const day = 24 * 60 * 60_000;

/** The commands of one server, or the global ones. */
export function commandsIn(world: World, guildId: string | undefined): APIApplicationCommand[] {
  return world.state.commands.filter((command) => command.guild_id === guildId);
}

export function command(world: World, guildId: string | undefined, id: string): APIApplicationCommand {
  const found = commandsIn(world, guildId).find((candidate) => candidate.id === id);
  if (!found) throw new DiscordError(10063);
  return found;
}

/** Creates one command, or replaces the one of this name. */
export function putCommand(world: World, guildId: string | undefined, definition: unknown): APIApplicationCommand {
  checkCommand(definition, []);
  const others = commandsIn(world, guildId).filter((known) => !isSame(known, definition));
  if (others.length >= limit) throw new DiscordError(30032);
  const registered = register(world, guildId, definition);
  replace(world, guildId, [...others, registered]);
  return registered;
}

/** Replaces all commands. One that is refused, and none is registered. */
export function putCommands(
  world: World,
  guildId: string | undefined,
  definitions: readonly unknown[],
): APIApplicationCommand[] {
  if (definitions.length > limit) throw new DiscordError(30032);
  const checked = definitions.map((definition, index) => {
    checkCommand(definition, [String(index)]);
    return definition;
  });
  const names = checked.map(({ name, type = ApplicationCommandType.ChatInput }) => `${type}:${name}`);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0) {
    const message = "Application command names must be unique";
    throw invalid([String(twice), "name"], "APPLICATION_COMMANDS_DUPLICATE_NAME", message);
  }
  const registered = checked.map((definition) => register(world, guildId, definition));
  replace(world, guildId, registered);
  return registered;
}

export function removeCommand(world: World, guildId: string | undefined, id: string): void {
  const gone = command(world, guildId, id);
  replace(
    world,
    guildId,
    commandsIn(world, guildId).filter((known) => known !== gone),
  );
}

/** Announced, so that the new commands are saved with everything else. */
function replace(world: World, guildId: string | undefined, commands: readonly APIApplicationCommand[]): void {
  world.state.commands = [...world.state.commands.filter((known) => known.guild_id !== guildId), ...commands];
  world.announce({ type: "commands-registered" });
}

function isSame(
  known: APIApplicationCommand,
  { name, type = ApplicationCommandType.ChatInput }: CommandDefinition,
): boolean {
  return known.name === name && known.type === type;
}

/** A command keeps its id as long as it keeps its name. */
function register(world: World, guildId: string | undefined, definition: CommandDefinition): APIApplicationCommand {
  const known = commandsIn(world, guildId).find((candidate) => isSame(candidate, definition));
  if (!known) countCreation(world);
  return {
    name_localizations: null,
    description_localizations: null,
    default_member_permissions: null,
    dm_permission: true,
    nsfw: false,
    integration_types: [ApplicationIntegrationType.GuildInstall],
    contexts: null,
    ...definition,
    type: definition.type ?? ApplicationCommandType.ChatInput,
    name: definition.name ?? "",
    description: definition.description ?? "",
    id: known?.id ?? world.newId(),
    application_id: world.state.botId,
    version: world.newId(),
    ...(guildId && { guild_id: guildId }),
  };
}

function countCreation(world: World): void {
  const now = Date.now();
  const today = world.state.commandCreations.filter((at) => now - at < day);
  if (today.length >= creationsPerDay) throw new DiscordError(30034);
  world.state.commandCreations = [...today, now];
}

const commandName = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

function checkCommand(definition: unknown, path: readonly string[]): asserts definition is CommandDefinition {
  const { name, description, options, type, default_member_permissions: needed } = checkObject(definition, path);
  checkType(type ?? ApplicationCommandType.ChatInput, path);
  if (needed !== undefined && needed !== null && !(typeof needed === "string" && /^\d{1,20}$/.test(needed))) {
    throw invalid([...path, "default_member_permissions"], "BASE_TYPE_CONVERT", "Must be permissions.");
  }
  if ((type ?? ApplicationCommandType.ChatInput) !== ApplicationCommandType.ChatInput) {
    checkLength(name, [...path, "name"], 32);
    return;
  }
  checkNamed({ name, description }, path);
  checkOptions(options ?? [], [...path, "options"]);
}

function checkObject(value: unknown, path: readonly string[]): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
}

function checkType(type: unknown, path: readonly string[]): void {
  if (typeof type !== "number") throw invalid([...path, "type"], "BASE_TYPE_CONVERT", "Must be a number.");
}

function checkOptions(options: unknown, path: readonly string[]): void {
  if (!Array.isArray(options)) throw invalid(path, "LIST_TYPE_CONVERT", "Must be a list.");
  if (options.length > 25) throw invalid(path, "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.");
  for (const [index, option] of options.entries()) {
    const { type, name, description, options: inner } = checkObject(option, [...path, String(index)]);
    checkType(type, [...path, String(index)]);
    checkNamed({ name, description }, [...path, String(index)]);
    checkOptions(inner ?? [], [...path, String(index), "options"]);
  }
}

function checkNamed({ name, description }: { name: unknown; description: unknown }, path: readonly string[]): void {
  if (typeof name !== "string" || !commandName.test(name) || name !== name.toLowerCase()) {
    const message = `String value did not match validation regex.`;
    throw invalid([...path, "name"], "APPLICATION_COMMAND_INVALID_NAME", message);
  }
  checkLength(description, [...path, "description"], 100);
}

function checkLength(text: unknown, path: readonly string[], longest: number): void {
  if (!text) throw invalid(path, "BASE_TYPE_REQUIRED", "This field is required");
  if (typeof text !== "string") throw invalid(path, "BASE_TYPE_CONVERT", "Must be a string.");
  if (textLength(text) > longest) {
    throw invalid(path, "BASE_TYPE_BAD_LENGTH", `Must be between 1 and ${longest} in length.`);
  }
}
