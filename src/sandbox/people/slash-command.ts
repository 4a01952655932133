import {
  type APIApplicationCommand,
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandInteractionDataOption,
  type APIApplicationCommandOption,
  type APIInteractionDataResolved,
  ApplicationCommandOptionType,
} from "discord-api-types/v10";
import { apiChannel } from "../wire/api-channel.ts";
import { apiMember, apiRole, apiUser } from "../wire/api-member.ts";
import type { Asked } from "../world/interaction.ts";
import { permissionsIn } from "../world/permissions.ts";
import type { Channel } from "../world/state.ts";
import type { World } from "../world/world.ts";

/** Commands that a member may choose from in a channel: the server's own and the global ones. */
export function commandsFor(world: World, channel: Channel): APIApplicationCommand[] {
  const guildId = "guildId" in channel ? channel.guildId : undefined;
  return world.state.commands.filter((command) => !command.guild_id || command.guild_id === guildId);
}

/**
 * What a typed line asks for, as Discord's client would have it: `/name`, `/name sub`, options as `name:value`, values
 * with spaces in quotes. What has no name is the first option's.
 */
export function parseSlashCommand(world: World, line: string, channel: Channel): Extract<Asked, { kind: "command" }> {
  const [first = "", ...words] =
    line
      .trim()
      .replace(/^\//, "")
      .match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  const command = commandsFor(world, channel).find(({ name }) => name === first);
  if (!command) throw new Error(`there is no command /${first} here`);
  const resolved: APIInteractionDataResolved = {};
  const options = readOptions(world, command.options ?? [], words, { channel, resolved });
  return { kind: "command", commandId: command.id, name: command.name, options, resolved };
}

interface Place {
  readonly channel: Channel;
  readonly resolved: APIInteractionDataResolved;
}

function readOptions(
  world: World,
  definitions: readonly APIApplicationCommandOption[],
  words: readonly string[],
  place: Place,
): APIApplicationCommandInteractionDataOption[] {
  const [next, ...rest] = words;
  const sub = definitions.find(({ name }) => name === next);
  if (
    sub?.type === ApplicationCommandOptionType.Subcommand ||
    sub?.type === ApplicationCommandOptionType.SubcommandGroup
  ) {
    const options = readOptions(world, sub.options ?? [], rest, place);
    return [{ type: sub.type, name: sub.name, options } as APIApplicationCommandInteractionDataOption];
  }
  const given = new Map<string, string>();
  const nameless: string[] = [];
  for (const word of words) {
    const [, name = "", value = ""] = word.match(/^([^:"]+):(.*)$/s) ?? [];
    if (definitions.some((option) => option.name === name)) given.set(name, value.replaceAll('"', ""));
    else nameless.push(word.replaceAll('"', ""));
  }
  const [leading] = definitions;
  if (nameless.length > 0) {
    if (!leading) throw new Error(`the command takes no options, but was given: ${nameless.join(" ")}`);
    given.set(leading.name, nameless.join(" "));
  }
  const missing = definitions.find((option) => "required" in option && option.required && !given.has(option.name));
  if (missing) throw new Error(`the command needs a value for ${missing.name}`);
  return [...given].map(([name, value]) => {
    const option = definitions.find((definition) => definition.name === name) as APIApplicationCommandBasicOption;
    return readValue(world, option, value, place);
  });
}

function readValue(
  world: World,
  { name, type }: APIApplicationCommandBasicOption,
  text: string,
  { channel, resolved }: Place,
): APIApplicationCommandInteractionDataOption {
  const as = (value: string | number | boolean) =>
    ({ name, type, value }) as APIApplicationCommandInteractionDataOption;
  switch (type) {
    case ApplicationCommandOptionType.Integer:
    case ApplicationCommandOptionType.Number:
      if (text.trim() === "" || Number.isNaN(Number(text))) throw new Error(`${name} must be a number, not ${text}`);
      return as(Number(text));
    case ApplicationCommandOptionType.Boolean:
      return as(/^(true|yes)$/i.test(text));
    case ApplicationCommandOptionType.User: {
      const user = world.userByName(text.replace(/^@/, ""));
      if (!user) throw new Error(`there is nobody called ${text}`);
      resolved.users = { ...resolved.users, [user.id]: apiUser(user) };
      const member = "guildId" in channel ? world.guild(channel.guildId).members[user.id] : undefined;
      if (member) {
        const permissions = String(permissionsIn(world, user.id, channel));
        resolved.members = { ...resolved.members, [user.id]: { ...apiMember(member), permissions } };
      }
      return as(user.id);
    }
    case ApplicationCommandOptionType.Channel: {
      const found = Object.values(world.state.channels).find(
        (candidate) => "name" in candidate && candidate.name === text.replace(/^#/, ""),
      );
      if (!found) throw new Error(`there is no channel ${text}`);
      const data = { ...apiChannel(world, found, world.state.botId), permissions: "0" };
      resolved.channels = { ...resolved.channels, [found.id]: data as never };
      return as(found.id);
    }
    case ApplicationCommandOptionType.Role: {
      const roles = "guildId" in channel ? Object.values(world.guild(channel.guildId).roles) : [];
      const role = roles.find((candidate) => candidate.name === text.replace(/^@/, ""));
      if (!role) throw new Error(`there is no role ${text}`);
      resolved.roles = { ...resolved.roles, [role.id]: apiRole(role) };
      return as(role.id);
    }
    case ApplicationCommandOptionType.String:
      return as(text);
    default:
      throw new Error(`the sandbox can't give a value to ${name}: options of type ${type} are not in it yet`);
  }
}
