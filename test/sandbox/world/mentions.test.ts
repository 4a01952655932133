import { AllowedMentionsTypes } from "discord-api-types/v10";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuild, createRole, joinAs } from "../../../src/sandbox/world/building.ts";
import { openDirectChannel } from "../../../src/sandbox/world/channels.ts";
import { joinPings, noPings, pingsOf } from "../../../src/sandbox/world/mentions.ts";
import { type Channel, newState } from "../../../src/sandbox/world/state.ts";
import { World } from "../../../src/sandbox/world/world.ts";

describe("pingsOf", () => {
  let world: World;
  let general: Channel;
  let ben: string;
  let quiet: string;
  beforeEach(() => {
    world = new World(newState({ guildName: "S", botName: "B", ownerName: "Ada" }));
    [general] = Object.values(world.state.channels) as [Channel];
    ben = joinAs(world, "Ben", {}).id;
    quiet = createRole(world, "Quiet", {}).id;
    // From here on nobody rings for everyone just by being a member.
    const [guild] = Object.values(world.state.guilds);
    const everyone = guild?.roles[guild.id];
    if (guild && everyone) world.putRole(guild.id, { ...everyone, permissions: String(1 << 10) });
  });

  const pings = (
    content: string,
    more: { authorId?: string; allowed?: object; repliedTo?: string; channel?: Channel } = {},
  ) => pingsOf(world, { authorId: ben, channel: general, allowed: undefined, repliedTo: undefined, content, ...more });
  const owner = () => Object.values(world.state.guilds)[0]?.ownerId ?? "";

  it("name each user once, in either form, and nobody who doesn't exist", () => {
    expect(pings(`<@${ben}> <@!${ben}> <@123>`)).toEqual({ ...noPings, users: [ben] });
  });

  it("name roles that may be mentioned, others only for who may mention everyone", () => {
    const loud = createRole(world, "Loud", { mentionable: true }).id;
    expect(pings(`<@&${loud}> <@&${quiet}>`).roles).toEqual([loud]);
    expect(pings(`<@&${quiet}>`, { authorId: owner() }).roles).toEqual([quiet]);
  });

  it("know no role of another server", () => {
    const other = createGuild(world, "Other", owner());
    const foreign = createRole(world, "Foreign", { mentionable: true, guild: other }).id;
    expect(pings(`<@&${foreign}>`, { authorId: owner() }).roles).toEqual([]);
    const direct = openDirectChannel(world, ben, world.bot.id);
    expect(pings(`<@&${quiet}> @everyone <@${world.bot.id}>`, { channel: direct })).toEqual({
      ...noPings,
      users: [world.bot.id],
    });
  });

  it("take @everyone and @here for a call only from who may call everyone", () => {
    expect(pings("@everyone @here").everyone).toBe(false);
    expect(pings("meeting, @here!", { authorId: owner() }).everyone).toBe(true);
    expect(pings("@everyoneelse", { authorId: owner() }).everyone).toBe(false);
  });

  it("let only through what is allowed", () => {
    const all = `<@${ben}> <@${world.bot.id}> <@&${quiet}> @everyone`;
    const as = { authorId: owner() };
    expect(pings(all, { ...as, allowed: {} })).toEqual(noPings);
    expect(pings(all, { ...as, allowed: { parse: [AllowedMentionsTypes.Role] } })).toEqual({
      ...noPings,
      roles: [quiet],
    });
    expect(pings(all, { ...as, allowed: { users: [ben] } })).toEqual({ ...noPings, users: [ben] });
    expect(pings(all, { ...as, allowed: { parse: [], roles: [quiet] } })).toEqual({ ...noPings, roles: [quiet] });
    expect(pings(all, { ...as, allowed: { parse: [AllowedMentionsTypes.Everyone] } })).toEqual({
      ...noPings,
      everyone: true,
    });
  });

  it("count whom a reply answers, unless that is switched off", () => {
    expect(pings("so", { repliedTo: ben }).users).toEqual([ben]);
    expect(pings("so", { repliedTo: ben, allowed: { parse: [AllowedMentionsTypes.User] } }).users).toEqual([]);
    expect(pings(`<@${ben}>`, { repliedTo: ben }).users).toEqual([ben]);
  });

  it("join without doubles", () => {
    const first = { users: ["1"], roles: ["2"], everyone: false };
    expect(joinPings(first, { users: ["1", "3"], roles: [], everyone: true })).toEqual({
      users: ["1", "3"],
      roles: ["2"],
      everyone: true,
    });
  });
});
