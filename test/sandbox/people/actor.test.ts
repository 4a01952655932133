import { MessageType } from "discord-api-types/v10";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiscordError, type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";

describe("an actor", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
  });
  afterEach(() => sandbox.close());

  const code = (act: () => unknown): number | undefined => {
    try {
      act();
    } catch (error) {
      return error instanceof DiscordError ? error.code : undefined;
    }
    throw new Error("nothing was refused");
  };

  it("is the same person under the same name", () => {
    expect(sandbox.member("Ben").id).toBe(sandbox.member("Ben").id);
    expect(sandbox.member("Ada").id).toBe(sandbox.owner.id);
    expect(sandbox.member("Other bot", { bot: true }).says("general", "beep").authorId).toBe(
      sandbox.member("Other bot").id,
    );
  });

  it("calls people, roles and channels by their names, the longest first", () => {
    const ada = sandbox.member("Ada Lovelace");
    const role = sandbox.createRole("Crew");
    const said = sandbox.owner.says("general", "@Ada Lovelace and @Ada, @Crew in #general, not @Adam or me@Ada.x");
    expect(said.content).toBe(
      `<@${ada.id}> and <@${sandbox.owner.id}>, <@&${role.id}> in <#${sandbox.general.id}>, not @Adam or me<@${sandbox.owner.id}>.x`,
    );
    expect(said.pinged).toEqual({ users: [ada.id, sandbox.owner.id], roles: [role.id], everyone: false });
  });

  it("mentions, replies with and without a ring, and sends files", () => {
    const ben = sandbox.member("Ben");
    const asked = ben.mentions(sandbox.bot, "hello");
    expect(asked.pinged.users).toEqual([sandbox.bot.id]);
    expect(sandbox.owner.says("general", "hi", { replyTo: asked }).pinged.users).toEqual([ben.id]);
    expect(sandbox.owner.says("general", "hi @Threadkeeper", { replyTo: asked, ping: false }).pinged.users).toEqual([
      sandbox.bot.id,
    ]);
    expect(sandbox.owner.says("general", "psst", { mentions: [ben] }).content).toBe(`<@${ben.id}> psst`);
    const sent = sandbox.owner.says("general", "", {
      attachments: [{ name: "a.txt", content: "abc", contentType: "text/plain" }],
    });
    expect(sent.attachments).toMatchObject([{ name: "a.txt", size: 3, contentType: "text/plain" }]);
  });

  it("is held to the same rules as a bot", () => {
    const ben = sandbox.member("Ben");
    const mine = sandbox.owner.says("general", "mine");
    expect(code(() => ben.says("general", " "))).toBe(50006);
    expect(code(() => ben.edits(mine, "x"))).toBe(50005);
    expect(code(() => ben.deletes(mine))).toBe(50013);
    const thread = sandbox.owner.opensThread(mine, "Mine");
    expect(code(() => ben.opensThread(mine, "Again"))).toBe(160004);
    expect(code(() => ben.renames(thread, "Ben's"))).toBe(50013);
    expect(code(() => ben.locks(thread))).toBe(50013);
    sandbox.owner.locks(thread);
    expect(code(() => ben.says(thread, "x"))).toBe(50083);
    expect(code(() => ben.removes(thread))).toBe(50013);
    const mod = sandbox.member("Mod", { permissions: ["ManageThreads", "ManageMessages"] });
    mod.reopens(thread);
    mod.removes(thread);
    mod.deletes(mine);
    expect(sandbox.text("general")).toBe("");
  });

  it("locks a thread without closing it, and adds others to it", () => {
    const thread = sandbox.owner.opensThread("general", "Room", { isPrivate: true });
    const ben = sandbox.member("Ben");
    sandbox.owner.adds(ben, thread);
    ben.says(thread, "thanks");
    sandbox.owner.locks(thread, { archived: false });
    expect(code(() => ben.says(thread, "x"))).toBe(160005);
  });

  it("runs only commands that exist, where they may be run", () => {
    expect(() => sandbox.owner.runs("/nothing", { in: "general" })).toThrow("there is no command /nothing here");
    const thread = sandbox.owner.opensThread("general", "Room", { isPrivate: true });
    expect(code(() => sandbox.member("Ben").runs("/x", { in: thread }))).toBe(50001);
    expect(code(() => sandbox.member("Ben").clicks("x", { in: thread }))).toBe(50001);
    expect(() => sandbox.owner.says("nowhere", "x")).toThrow("there is no channel nowhere");
    expect(() => sandbox.owner.says("general", "x".repeat(2_001))).toThrow("content: Must be 2000 or fewer in length.");
    expect(() => sandbox.owner.opensThread("general", " ")).toThrow("name: Must be between 1 and 100 in length.");
  });

  it("leaves lines that Discord writes", () => {
    const ben = sandbox.member("Ben");
    ben.causes(MessageType.ChannelPinnedMessage, { in: "general" });
    ben.causes(MessageType.GuildBoost, { in: "general", content: "3" });
    ben.opensThread("general", "Open");
    expect(sandbox.text("general")).toBe("— Ben pinned a message\n— Ben: GuildBoost (3)\n— Ben started a thread: Open");
  });

  it("is seen typing until it sends", () => {
    const ben = sandbox.member("Ben");
    ben.types("general");
    expect(sandbox.typingIn("general").map(({ name }) => name)).toEqual(["Ben"]);
    expect(sandbox.isAnybodyTyping).toBe(true);
    ben.says("general", "there");
    expect(sandbox.typingIn("general")).toEqual([]);
    expect(sandbox.isAnybodyTyping).toBe(false);
  });
});
