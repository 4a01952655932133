import { type APIOverwrite, OverwriteType, PermissionFlagsBits } from "discord-api-types/v10";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuildChannel, joinAs } from "../../../src/sandbox/world/building.ts";
import { openDirectChannel } from "../../../src/sandbox/world/channels.ts";
import { canView, may, mayInGuild, permissionsIn } from "../../../src/sandbox/world/permissions.ts";
import { type GuildChannel, newState } from "../../../src/sandbox/world/state.ts";
import { threadInChannel } from "../../../src/sandbox/world/threads.ts";
import { World } from "../../../src/sandbox/world/world.ts";

const { ViewChannel, SendMessages, SendMessagesInThreads, ManageThreads, AttachFiles } = PermissionFlagsBits;

describe("permissions", () => {
  let world: World;
  let guildId: string;
  let channel: GuildChannel;
  beforeEach(() => {
    world = new World(newState({ guildName: "S", botName: "B", ownerName: "Ada" }));
    guildId = Object.keys(world.state.guilds)[0] ?? "";
    channel = createGuildChannel(world, "place", 0, {});
  });

  const overwrite = (id: string, type: OverwriteType, allow: bigint, deny: bigint): APIOverwrite => ({
    id,
    type,
    allow: String(allow),
    deny: String(deny),
  });
  const inPlace = (userId: string, ...overwrites: APIOverwrite[]) => {
    world.changeChannel(channel.id, { overwrites });
    return permissionsIn(world, userId, world.channel(channel.id));
  };

  it("are everything for the owner and for administrators, whatever a channel says", () => {
    const [owner] = Object.values(world.state.users).filter(({ bot }) => !bot);
    const boss = joinAs(world, "Boss", { permissions: ["Administrator"] });
    const shut = overwrite(guildId, OverwriteType.Role, 0n, ViewChannel);
    for (const { id } of [owner, boss] as { id: string }[]) {
      expect(inPlace(id, shut) & ManageThreads).toBe(ManageThreads);
    }
  });

  it("are nothing for who isn't in the server or doesn't see the channel", () => {
    expect(inPlace("1")).toBe(0n);
    const ben = joinAs(world, "Ben", {});
    expect(inPlace(ben.id, overwrite(guildId, OverwriteType.Role, 0n, ViewChannel))).toBe(0n);
  });

  it("take the channel's word for everyone, then for roles together, then for the member", () => {
    const ben = joinAs(world, "Ben", { roles: ["Crew", "Deck"] });
    const [crew, deck] = Object.values(world.guild(guildId).roles).filter(
      ({ name }) => name === "Crew" || name === "Deck",
    );
    const everyone = overwrite(guildId, OverwriteType.Role, 0n, SendMessages);
    const denied = overwrite(crew?.id ?? "", OverwriteType.Role, 0n, SendMessages);
    const allowed = overwrite(deck?.id ?? "", OverwriteType.Role, SendMessages, 0n);
    const personal = overwrite(ben.id, OverwriteType.Member, 0n, SendMessages);
    const sends = (...overwrites: APIOverwrite[]) => (inPlace(ben.id, ...overwrites) & SendMessages) !== 0n;
    expect(sends(everyone)).toBe(false);
    expect(sends(everyone, denied)).toBe(false);
    expect(sends(everyone, denied, allowed)).toBe(true);
    expect(sends(everyone, denied, allowed, personal)).toBe(false);
  });

  it("to attach and embed mean nothing without the right to send", () => {
    const ben = joinAs(world, "Ben", {});
    expect(inPlace(ben.id) & AttachFiles).toBe(AttachFiles);
    expect(inPlace(ben.id, overwrite(guildId, OverwriteType.Role, 0n, SendMessages)) & AttachFiles).toBe(0n);
  });

  it("of a thread are its channel's, where another right counts for sending", () => {
    const ben = joinAs(world, "Ben", {});
    const thread = threadInChannel(world, ben.id, channel.id, { name: "t", isPrivate: false });
    world.changeChannel(channel.id, { overwrites: [overwrite(guildId, OverwriteType.Role, 0n, SendMessages)] });
    expect(may(world, ben.id, thread, "AttachFiles")).toBe(true);
    world.changeChannel(channel.id, {
      overwrites: [overwrite(guildId, OverwriteType.Role, 0n, SendMessagesInThreads)],
    });
    expect(may(world, ben.id, thread, "AttachFiles")).toBe(false);
    world.removeChannel(channel.id);
    expect(permissionsIn(world, ben.id, thread)).toBe(0n);
  });

  it("let a private thread be seen by its members and by who manages threads", () => {
    const [ben, cleo, dan] = [
      joinAs(world, "Ben", {}),
      joinAs(world, "Cleo", {}),
      joinAs(world, "Dan", { permissions: ["ManageThreads"] }),
    ];
    const thread = threadInChannel(world, ben.id, channel.id, { name: "t", isPrivate: true });
    expect([ben, cleo, dan].map(({ id }) => canView(world, id, thread))).toEqual([true, false, true]);
  });

  it("in a DM are for the two who are in it", () => {
    const [ben, cleo] = [joinAs(world, "Ben", {}), joinAs(world, "Cleo", {})];
    const direct = openDirectChannel(world, ben.id, world.bot.id);
    expect([ben, world.bot, cleo].map(({ id }) => may(world, id, direct, "SendMessages"))).toEqual([true, true, false]);
  });

  it("in the server as a whole are those of all roles together", () => {
    const ben = joinAs(world, "Ben", { permissions: ["ManageThreads", "ManageMessages"] });
    const guild = world.guild(guildId);
    expect(mayInGuild(guild, ben.id, ManageThreads | PermissionFlagsBits.ManageMessages | ViewChannel)).toBe(true);
    expect(mayInGuild(guild, ben.id, ManageThreads | PermissionFlagsBits.BanMembers)).toBe(false);
  });

  it("never hold what the last word denied, and never more than was given", () => {
    const bits = fc.bigInt(0n, (1n << 50n) - 1n).map((value) => value & ~PermissionFlagsBits.Administrator);
    const ben = joinAs(world, "Ben", { roles: ["Crew"] });
    const crew = Object.values(world.guild(guildId).roles).find(({ name }) => name === "Crew");
    fc.assert(
      fc.property(bits, bits, bits, bits, (roleAllow, roleDeny, ownAllow, ownDeny) => {
        const result = inPlace(
          ben.id,
          overwrite(crew?.id ?? "", OverwriteType.Role, roleAllow, roleDeny),
          overwrite(ben.id, OverwriteType.Member, ownAllow, ownDeny),
        );
        const base = BigInt(world.guild(guildId).roles[guildId]?.permissions ?? 0);
        expect(result & ownDeny & ~ownAllow).toBe(0n);
        expect(result & ~(base | roleAllow | ownAllow)).toBe(0n);
        if (!(result & ViewChannel)) expect(result).toBe(0n);
      }),
    );
  });
});
