import { type APIApplicationCommand, ApplicationCommandOptionType, ApplicationCommandType } from "discord.js";
import { describe, expect, it } from "vitest";
import { commands } from "../../../src/discord/commands/all.ts";
import type { CommandDefinition } from "../../../src/discord/commands/command.ts";
import { normalised } from "../../../src/discord/commands/registration.ts";

/** As Discord gives back what was registered: with ids, and with its defaults filled in. */
function registered(definition: CommandDefinition): APIApplicationCommand {
  return {
    id: "1",
    application_id: "2",
    version: "3",
    default_member_permissions: null,
    nsfw: false,
    dm_permission: true,
    integration_types: [0, 1],
    name_localizations: null,
    description_localizations: null,
    contexts: null,
    ...definition,
    type: ApplicationCommandType.ChatInput,
  } as APIApplicationCommand;
}

const definition: CommandDefinition = {
  name: "ask",
  description: "Ask something",
  options: [{ type: ApplicationCommandOptionType.String, name: "what", description: "What to ask" }],
};

describe("a command as it is compared", () => {
  it("is the same as what Discord gives back of it", () => {
    for (const { definition } of commands) expect(normalised(registered(definition))).toEqual(normalised(definition));
    const options = [{ ...definition.options?.[0], required: false, choices: [], name_localizations: null }];
    expect(normalised({ ...registered(definition), options } as APIApplicationCommand)).toEqual(normalised(definition));
  });

  it("differs when something that a person would notice differs", () => {
    const changes: Partial<CommandDefinition>[] = [
      { description: "Ask something else" },
      { name: "question" },
      { options: [] },
      { contexts: [0] },
      { default_member_permissions: "0" },
      { nsfw: true },
    ];
    for (const change of changes) {
      expect(normalised({ ...definition, ...change } as CommandDefinition)).not.toEqual(normalised(definition));
    }
  });
});

describe("the commands", () => {
  it("are as Discord wants them", () => {
    for (const { definition } of commands) {
      expect(definition.name).toMatch(/^[a-z0-9_-]{1,32}$/);
      expect(definition.description.length).toBeLessThanOrEqual(100);
    }
    expect(commands.map(({ definition: { name } }) => name)).toEqual(["fork", "help", "reset", "stop", "undo"]);
  });
});
