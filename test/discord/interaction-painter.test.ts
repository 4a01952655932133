import { type ChatInputCommandInteraction, Events } from "discord.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/discord/client.ts";
import { acknowledge, InteractionPainter } from "../../src/discord/interaction-painter.ts";
import { silentLogger } from "../../src/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  sandbox = await startSandbox({ limits: false });
  client = createClient({ api: sandbox.api });
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(sandbox.botToken);
  await ready;
  await client.application?.commands.set([{ name: "ask", description: "Ask" }]);
});

afterAll(async () => {
  await client.destroy();
  await sandbox.close();
});

/** A command that somebody gives, as both sides see it. */
async function given() {
  const heard = new Promise<ChatInputCommandInteraction>((resolve) => {
    client.once(Events.InteractionCreate, (interaction) => resolve(interaction as ChatInputCommandInteraction));
  });
  const asked = sandbox.owner.runs("/ask", { in: "general" });
  return { asked, interaction: await heard };
}

const view = { replyTo: null, typing: false, finished: true };
const log = silentLogger;

describe("the answer of a command", () => {
  it("is split like any other: the reply, then follow-ups, and only who asked sees them if so wished", async () => {
    for (const ephemeral of [true, false]) {
      const { asked, interaction } = await given();
      expect(await acknowledge(interaction, { ephemeral, log })).toBe(true);
      const painter = new InteractionPainter(interaction, log);
      await painter.draw({ ...view, chunks: ["so far"], typing: true, finished: false });
      expect(asked.messages).toEqual([]);
      await painter.draw({ ...view, chunks: ["one @everyone", "two https://example.org", "three"] });
      expect(asked.messages.map(({ content }) => content)).toEqual([
        "one @everyone",
        "two https://example.org",
        "three",
      ]);
      for (const message of asked.messages) {
        expect(message.onlyFor).toBe(ephemeral ? sandbox.owner.id : undefined);
        expect(message.pinged).toEqual({ users: [], roles: [], everyone: false });
        expect(message.embeds).toEqual([]);
      }
    }
  });

  it("that somebody else has acknowledged, or nobody in time, is not ours", async () => {
    const { interaction } = await given();
    await interaction.deferReply();
    interaction.deferred = false;
    expect(await acknowledge(interaction, { ephemeral: true, log })).toBe(false);
    const late = await given();
    sandbox.faults.fail({ route: "POST /interactions/:id/:token/callback", status: 404, code: 10062 });
    expect(await acknowledge(late.interaction, { ephemeral: true, log })).toBe(false);
  });
});
