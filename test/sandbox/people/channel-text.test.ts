import { Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("a channel as text", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
  });
  afterEach(() => sandbox.close());

  it("reads as people read it", async () => {
    const ben = sandbox.member("Ben");
    const asked = ben.says("general", "@Threadkeeper @everyone what about <@99> in #general?");
    const body = {
      content: "See https://example.com",
      message_reference: { message_id: asked.id },
      components: [
        {
          type: 1,
          components: [
            { type: 2, style: 1, label: "Yes", custom_id: "y" },
            { type: 2, style: 4, label: "No", custom_id: "n" },
          ],
        },
      ],
    };
    await botRest(sandbox).post(Routes.channelMessages(sandbox.general.id), { body });
    sandbox.owner.says(sandbox.owner.opensThread(asked, "About it"), "here");
    sandbox.owner.archives("About it");
    expect(sandbox.text("general")).toBe(
      [
        "Ben: @Threadkeeper @everyone what about <@99> in #general?",
        '  ↳ thread "About it" (1 message, archived)',
        "Threadkeeper (reply to Ben): See https://example.com",
        "  [preview: https://example.com]",
        "  [Yes] [No]",
      ].join("\n"),
    );
    expect(sandbox.text("About it")).toBe("Ben: @Threadkeeper @everyone what about <@99> in #general?\nAda: here");
    sandbox.faults.deleteMessage(asked);
    expect(sandbox.text("About it")).toContain("(the message that this thread began with is gone)");
  });

  it("lets no message look like two", () => {
    sandbox.member("Eve").says("general", "hello\nAda: I agree");
    expect(sandbox.text("general")).toBe("Eve: hello\n  Ada: I agree");
  });

  it("shows what names nothing as it is", () => {
    sandbox.owner.says("general", "<#1> <@&2>");
    expect(sandbox.messageText(sandbox.messages("general")[0] as never)).toBe("Ada: <#1> <@&2>");
  });
});
