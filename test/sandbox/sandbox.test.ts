import { Events, type Message, MessageFlags } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { login, plainBot } from "./support/plain-bot.ts";

describe("the sandbox with a plain discord.js bot", () => {
  let sandbox: Sandbox;
  let bot: ReturnType<typeof plainBot>;

  beforeEach(async () => {
    sandbox = await startSandbox();
    bot = plainBot(sandbox);
  });
  afterEach(async () => {
    await bot.destroy();
    await sandbox.close();
  });

  it("lets a bot log in and see the server, its channel and itself", async () => {
    const client = await login(bot, sandbox.botToken);
    expect(client.user.username).toBe("Threadkeeper");
    const guild = client.guilds.cache.get(sandbox.guild.id);
    expect(guild?.name).toBe("Sandbox");
    expect(guild?.channels.cache.map(({ name }) => name)).toEqual(["general"]);
    expect(guild?.members.me?.roles.botRole?.name).toBe("Threadkeeper");
  });

  it("carries a mention to the bot, its thread and its answer back to the people", async () => {
    await login(bot, sandbox.botToken);
    bot.on(Events.MessageCreate, async (message: Message) => {
      if (!message.mentions.has(bot.user?.id ?? "")) return;
      const thread = await message.startThread({ name: "Plans" });
      await thread.sendTyping();
      const first = await thread.send({ content: "Let me see", flags: MessageFlags.SuppressEmbeds, nonce: "turn.0" });
      await first.edit("Here it is: @everyone");
    });
    const asked = sandbox.owner.mentions(sandbox.bot, "what are the plans?");
    const answer = await sandbox.until(() => {
      const thread = sandbox.findChannel(asked.id);
      return thread && sandbox.messages(thread).find(({ content }) => content.startsWith("Here it is"));
    });
    expect(answer.channelId).toBe(asked.id);
    expect(sandbox.typingIn(asked.id)).toEqual([]);
    expect(sandbox.text("general")).toBe('Ada: @Threadkeeper what are the plans?\n  ↳ thread "Plans" (1 message)');
    expect(sandbox.text("Plans")).toBe("Ada: @Threadkeeper what are the plans?\nThreadkeeper: Here it is: @everyone");
    expect(sandbox.counters.unknown).toEqual([]);
    expect(sandbox.counters.requests["POST /channels/:id/typing"]).toBe(1);
  });

  it("registers a slash command, and a member runs it", async () => {
    const client = await login(bot, sandbox.botToken);
    await client.application.commands.set([{ name: "reset", description: "Forget" }]);
    bot.on(Events.InteractionCreate, async (interaction) => {
      if (!interaction.isChatInputCommand()) return;
      await interaction.deferReply({ flags: MessageFlags.Ephemeral });
      await interaction.editReply(`forgot ${interaction.channelId}`);
    });
    const answer = await sandbox.owner.runs("/reset", { in: "general" }).answer();
    expect(answer.content).toBe(`forgot ${sandbox.general.id}`);
    expect(answer.onlyFor).toBe(sandbox.owner.id);
    expect(sandbox.text("general")).toBe(
      `Threadkeeper (/reset by Ada, only Ada sees this): forgot ${sandbox.general.id}`,
    );
  });
});
