import { describe, expect, it } from "vitest";
import { delivered, ids, knownClient } from "./support/known-world.ts";

describe("what the client keeps in mind", () => {
  it("is bounded, however many people write, and never loses the bot itself", () => {
    const client = knownClient();
    const inside = client as unknown as { users: { _add(data: object): void } };
    inside.users._add({ id: ids.bot, username: "Keeper", discriminator: "0", global_name: null, bot: true });
    for (let number = 0; number < 1_000; number += 1) {
      const author = { id: `${800000000000000000n + BigInt(number)}`, username: `p${number}`, discriminator: "0" };
      const member = { nick: `Person ${number}`, roles: [], joined_at: null };
      const message = delivered(client, ids.general, "hello", { author, member });
      expect(message.member?.displayName).toBe(`Person ${number}`);
    }
    const guild = client.guilds.cache.get(ids.guild);
    expect(guild?.members.cache.size).toBeLessThanOrEqual(200);
    expect(guild?.members.me?.id).toBe(ids.bot);
    expect(client.users.cache.size).toBeLessThanOrEqual(200);
    expect(client.users.cache.has(ids.bot)).toBe(true);
    const general = client.channels.cache.get(ids.general);
    expect(general?.isTextBased() && general.messages.cache.size).toBeLessThanOrEqual(20);
  });
});
