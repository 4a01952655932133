import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asShown, asTyped } from "../../../src/sandbox/people/mention-text.ts";
import { createGuildChannel, createRole, joinAs } from "../../../src/sandbox/world/building.ts";
import { newState } from "../../../src/sandbox/world/state.ts";
import { World } from "../../../src/sandbox/world/world.ts";

describe("names in a text", () => {
  const world = new World(newState({ guildName: "S", botName: "Bot (1.0)", ownerName: "Ada" }));
  const names = ["Ada Lovelace", "a.b*c", "[x]", "Ann", "Anna"];
  for (const name of names) joinAs(world, name, {});
  createRole(world, "Crew", {});
  const { id } = createGuildChannel(world, "plans", 0, {});

  it("come back as they were typed, whatever is around them", () => {
    const name = fc.constantFrom(...names, "Ada", "Crew", "Bot (1.0)", "everyone", "Nobody").map((who) => `@${who}`);
    const noise = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[<>]/g, ""));
    fc.assert(
      fc.property(fc.array(fc.oneof(name, fc.constant("#plans"), noise)), (parts) => {
        const text = parts.join("");
        expect(asShown(world, asTyped(world, text, id))).toBe(text);
      }),
    );
  });

  it("are mentions when they stand alone, the longest name first", () => {
    const written = asTyped(world, "@Anna @Ann, @Annab @everyone @a.b*c", id);
    const idOf = (name: string) => world.userByName(name)?.id;
    expect(written).toBe(`<@${idOf("Anna")}> <@${idOf("Ann")}>, @Annab @everyone <@${idOf("a.b*c")}>`);
  });
});
