import { ApplicationCommandOptionType, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiscordError, type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

const {
  String: Text,
  Integer,
  Number: Decimal,
  Boolean: Flag,
  User,
  Channel,
  Role,
  Subcommand,
  SubcommandGroup,
  Mentionable,
} = ApplicationCommandOptionType;

describe("a typed slash command", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
    const option = (name: string, type: number, more: object = {}) => ({ name, type, description: name, ...more });
    const body = [
      option("ask", 1, {
        options: [option("question", Text, { required: true }), option("times", Integer), option("share", Decimal)],
      }),
      option("give", 1, {
        options: [option("who", User), option("where", Channel), option("as", Role), option("now", Flag)],
      }),
      option("facts", 1, {
        options: [
          option("add", Subcommand, { options: [option("text", Text)] }),
          option("of", SubcommandGroup, {
            options: [option("member", Subcommand, { options: [option("who", User)] })],
          }),
        ],
      }),
      option("mods", 1, { default_member_permissions: "8192" }),
      option("odd", 1, { options: [option("x", Mentionable)] }),
    ].map(({ type: _, ...command }) => command);
    await botRest(sandbox).put(Routes.applicationCommands(sandbox.bot.id), { body });
  });
  afterEach(() => sandbox.close());

  const asked = (line: string) => {
    const { interaction } = sandbox.owner.runs(line, { in: "general" });
    if (interaction.asked.kind !== "command") throw new Error("not a command");
    return interaction.asked;
  };

  it("takes options by name, in quotes if they have spaces", () => {
    expect(asked('/ask question:"how far is it?" times:2 share:0.5').options).toEqual([
      { name: "question", type: Text, value: "how far is it?" },
      { name: "times", type: Integer, value: 2 },
      { name: "share", type: Decimal, value: 0.5 },
    ]);
  });

  it("gives what has no name to the first option", () => {
    expect(asked("/ask how far: is it?").options).toEqual([{ name: "question", type: Text, value: "how far: is it?" }]);
  });

  it("finds people, channels and roles by name and sends them along", () => {
    const role = sandbox.createRole("Crew");
    const { options, resolved } = asked("/give who:@Ada where:#general as:Crew now:yes");
    const owner = sandbox.owner.id;
    expect(options.map((option) => "value" in option && option.value)).toEqual([
      owner,
      sandbox.general.id,
      role.id,
      true,
    ]);
    expect(resolved).toMatchObject({
      users: { [owner]: { global_name: "Ada" } },
      members: { [owner]: { roles: [] } },
      channels: { [sandbox.general.id]: { name: "general" } },
      roles: { [role.id]: { name: "Crew" } },
    });
  });

  it("knows subcommands and their groups", () => {
    expect(asked("/facts add the sky is blue").options).toEqual([
      { type: Subcommand, name: "add", options: [{ name: "text", type: Text, value: "the sky is blue" }] },
    ]);
    expect(asked("/facts of member who:Ada").options).toMatchObject([
      {
        type: SubcommandGroup,
        name: "of",
        options: [{ type: Subcommand, name: "member", options: [{ name: "who" }] }],
      },
    ]);
  });

  it("says what is missing or wrong", () => {
    for (const [line, reason] of [
      ["/ask", "needs a value for question"],
      ["/ask question:x times:many", "must be a number"],
      ["/give who:Nobody", "nobody called Nobody"],
      ["/give where:nowhere", "no channel nowhere"],
      ["/give as:None", "no role None"],
      ["/mods extra", "takes no options"],
      ["/odd x:1", "not in it yet"],
    ] as const) {
      expect(() => asked(line)).toThrow(reason);
    }
  });

  it("is refused to members without the permission that the command asks for", () => {
    expect(() => sandbox.member("Ben").runs("/mods", { in: "general" })).toThrow(DiscordError);
    sandbox.member("Mod", { permissions: ["ManageMessages"] }).runs("/mods", { in: "general" });
  });

  it("works in a DM", () => {
    const direct = sandbox.directMessages(sandbox.owner);
    expect(sandbox.owner.runs("/give who:Ada", { in: direct }).interaction.channelId).toBe(direct.id);
    expect(() => sandbox.owner.runs("/give as:Crew", { in: direct })).toThrow("no role Crew");
  });
});
