import type { World } from "../world/world.ts";

/** Mentions by name instead of by id. */
export function asShown(world: World, content: string): string {
  return content
    .replaceAll(/<@!?(\d+)>/g, (raw, id: string) => (world.state.users[id] ? `@${world.state.users[id].name}` : raw))
    .replaceAll(/<@&(\d+)>/g, (raw, id: string) => {
      const role = Object.values(world.state.guilds).find((guild) => guild.roles[id])?.roles[id];
      return role ? `@${role.name}` : raw;
    })
    .replaceAll(/<#(\d+)>/g, (raw, id: string) => {
      const channel = world.state.channels[id];
      return channel && "name" in channel ? `#${channel.name}` : raw;
    });
}

/** The other way round, as a client does it while one types. */
export function asTyped(world: World, text: string, channelId: string): string {
  const channel = world.channel(channelId);
  const guild = "guildId" in channel ? world.guild(channel.guildId) : undefined;
  const known = new Map<string, string>();
  for (const { id, name } of guild ? world.channelsOf(guild.id) : []) known.set(`#${name}`, `<#${id}>`);
  for (const { id, name } of Object.values(guild?.roles ?? {})) known.set(`@${name}`, `<@&${id}>`);
  for (const { id, name } of Object.values(world.state.users)) known.set(`@${name}`, `<@${id}>`);
  // The server's own role is `@everyone`, which is written as it is.
  known.delete("@everyone");
  // The longest first: "@Ada Lovelace" is not "@Ada".
  const names = [...known.keys()].sort((first, second) => second.length - first.length);
  const pattern = new RegExp(`(?:${names.map(literally).join("|")})(?![\\p{L}\\p{N}])`, "gu");
  return text.replaceAll(pattern, (name) => known.get(name) ?? name);
}

function literally(name: string): string {
  return name.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}
