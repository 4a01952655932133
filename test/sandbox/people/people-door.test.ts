import { Events, MessageFlags } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { login, plainBot } from "../support/plain-bot.ts";

describe("the people's side over HTTP", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
  });
  afterEach(() => sandbox.close());

  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${sandbox.origin}/people${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${sandbox.key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined,
    };
  };

  it("says who and what is there", async () => {
    const { json } = await call("");
    expect(json.people.map(({ name }: { name: string }) => name).sort()).toEqual(["Ada", "Threadkeeper"]);
    expect(json.channels).toEqual([{ id: sandbox.general.id, name: "general", type: 0 }]);
  });

  it("lets people say something, answer, and read it as text or data", async () => {
    const { json } = await call("/say", { as: "Ada", in: "general", text: "hello @Threadkeeper" });
    await call("/say", { as: "Ada", in: "#general", text: "anybody?", replyTo: json.id });
    expect((await call("/channels/general/text")).text).toBe("Ada: hello @Threadkeeper\nAda (reply to Ada): anybody?");
    expect((await call("/channels/general/messages")).json).toMatchObject([
      { pinged: { users: [sandbox.bot.id] } },
      {},
    ]);
  });

  it("runs commands and presses buttons, and tells what came of it", async () => {
    const bot = plainBot(sandbox);
    const client = await login(bot, sandbox.botToken);
    await client.application.commands.set([{ name: "reset", description: "forgets" }]);
    bot.on(Events.InteractionCreate, async (interaction) => {
      if (interaction.isChatInputCommand()) {
        const components = [{ type: 1, components: [{ type: 2, style: 1, label: "Yes", custom_id: "yes" }] }];
        await interaction.reply({ content: "Sure?", components });
      } else if (interaction.isButton())
        await interaction.reply({ content: "Forgotten", flags: MessageFlags.Ephemeral });
    });
    expect((await call("/run", { as: "Ada", in: "general", command: "/reset" })).json).toEqual({
      status: "answered",
      messages: ["Threadkeeper (/reset by Ada): Sure?\n  [Yes]"],
    });
    expect((await call("/click", { as: "Ada", in: "general", label: "Yes" })).json).toEqual({
      status: "answered",
      messages: ["Threadkeeper (reply to Threadkeeper, only Ada sees this): Forgotten"],
    });
    await bot.destroy();
  });

  it("says what is wrong", async () => {
    for (const [path, body, status, message] of [
      ["/say", { as: "Nobody", in: "general", text: "x" }, 400, "there is nobody called Nobody"],
      ["/say", { as: "Ada", in: "nowhere", text: "x" }, 400, "there is no channel nowhere"],
      ["/say", { as: "Ada", in: "general" }, 400, "Invalid Form Body (text: This field is required)"],
      ["/say", { as: "Ada", in: "constructor", text: "x" }, 400, "there is no channel constructor"],
      [
        "/say",
        { as: "Ada", in: "general", text: "x".repeat(2_001) },
        400,
        "Invalid Form Body (content: Must be 2000 or fewer in length.)",
      ],
      ["/say", { as: "Ada", in: "general", text: "x", replyTo: "1" }, 404, "Unknown Message"],
      ["/run", { as: "Ada", in: "general", command: "/none" }, 400, "there is no command /none here"],
      ["/click", { as: "Ada", in: "general", label: "Yes" }, 400, "Ada sees no button Yes"],
    ] as const) {
      expect(await call(path, body)).toMatchObject({ status, json: { message } });
    }
    expect((await call("/channels/nowhere/text")).json).toEqual({ message: "there is no channel nowhere" });
  });
});
