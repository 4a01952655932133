import { PermissionFlagsBits } from "discord.js";
import { describe, expect, it } from "vitest";
import { missingPermissions } from "../../src/discord/permissions.ts";
import { delivered, ids, knownClient } from "./support/known-world.ts";

const all = 0x7fffffffffffn;

describe("what is missing to answer", () => {
  it("in the text of a voice channel is the right to enter it, too", () => {
    const without = knownClient({
      permissions: all & ~PermissionFlagsBits.Connect & ~PermissionFlagsBits.Administrator,
    });
    expect(missingPermissions(delivered(without, ids.voice, "hello"), "foreign")).toEqual(["Connect"]);
    expect(missingPermissions(delivered(without, ids.general, "hello"), "new-thread")).toEqual([]);
    expect(missingPermissions(delivered(knownClient(), ids.voice, "hello"), "foreign")).toEqual([]);
  });
});
