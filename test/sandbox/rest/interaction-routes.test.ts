import { type APIMessage, InteractionResponseType, MessageFlags, type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunningInteraction, type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

const { ChannelMessageWithSource, DeferredChannelMessageWithSource, DeferredMessageUpdate, UpdateMessage } =
  InteractionResponseType;

describe("the interaction routes", () => {
  let sandbox: Sandbox;
  let rest: REST;
  let unknown: string[];
  beforeEach(async () => {
    unknown = [];
    sandbox = await startSandbox({ limits: false, onUnknown: (what) => unknown.push(what) });
    rest = botRest(sandbox);
    const body = [{ name: "reset", description: "forgets" }];
    await rest.put(Routes.applicationCommands(sandbox.bot.id), { body });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await sandbox.close();
  });

  const run = () => sandbox.owner.runs("/reset", { in: "general" });
  const callback = ({ interaction: { id, token } }: RunningInteraction, type: number, data?: object, query = "") =>
    rest.post(Routes.interactionCallback(id, token), {
      body: { type, data },
      auth: false,
      query: new URLSearchParams(query),
    });
  const hook = ({ interaction: { token } }: RunningInteraction, id = "@original") =>
    Routes.webhookMessage(sandbox.bot.id, token, id);
  const followUp = ({ interaction: { token } }: RunningInteraction, body: object) =>
    rest.post(Routes.webhook(sandbox.bot.id, token), { body, auth: false }) as Promise<APIMessage>;

  it("take an answer once: a second one is 40060", async () => {
    const running = run();
    await callback(running, ChannelMessageWithSource, { content: "done" });
    await expect(callback(running, ChannelMessageWithSource, { content: "again" })).rejects.toMatchObject({
      code: 40060,
    });
    await expect(callback(running, DeferredChannelMessageWithSource)).rejects.toMatchObject({ code: 40060 });
    expect((await running.answer()).content).toBe("done");
    expect(sandbox.text("general")).toBe("Threadkeeper (/reset by Ada): done");
  });

  it("give the message back if asked to", async () => {
    const answer = await callback(run(), ChannelMessageWithSource, { content: "done" }, "with_response=true");
    expect(answer).toMatchObject({
      resource: { type: 4, message: { content: "done", application_id: sandbox.bot.id } },
    });
  });

  it("show a deferral as thinking until the answer is edited in or followed up", async () => {
    const edited = run();
    await callback(edited, DeferredChannelMessageWithSource, { flags: MessageFlags.Ephemeral });
    expect(sandbox.text("general")).toBe("Threadkeeper (/reset by Ada, only Ada sees this): is thinking…");
    expect(edited.messages).toEqual([]);
    await rest.patch(hook(edited), { body: { content: "done" }, auth: false });
    expect(await edited.answer()).toMatchObject({ content: "done", onlyFor: sandbox.owner.id });
    const followed = run();
    await callback(followed, DeferredChannelMessageWithSource);
    const first = await followUp(followed, { content: "first" });
    const second = await followUp(followed, { content: "second" });
    expect(followed.messages.map(({ id, content }) => [id, content])).toEqual([
      [first.id, "first"],
      [second.id, "second"],
    ]);
  });

  it("keep ephemeral answers out of the channel's messages", async () => {
    const running = run();
    await callback(running, ChannelMessageWithSource, { content: "psst", flags: MessageFlags.Ephemeral });
    expect(sandbox.messages("general")).toEqual([]);
    expect(await rest.get(Routes.channelMessages(sandbox.general.id))).toEqual([]);
    expect(await rest.get(hook(running), { auth: false })).toMatchObject({
      content: "psst",
      flags: MessageFlags.Ephemeral,
    });
    await rest.delete(hook(running), { auth: false });
    await expect(rest.get(hook(running), { auth: false })).rejects.toMatchObject({ code: 10008 });
    expect(sandbox.text("general")).toBe("");
  });

  it("know no token that was made up, and none for a webhook before the acknowledgement", async () => {
    const running = run();
    const { id } = running.interaction;
    const made = rest.post(Routes.interactionCallback(id, "made-up"), {
      body: { type: 4, data: { content: "x" } },
      auth: false,
    });
    await expect(made).rejects.toMatchObject({ code: 10062, status: 404 });
    await expect(rest.patch(hook(running), { body: { content: "x" }, auth: false })).rejects.toMatchObject({
      code: 10015,
    });
    await expect(followUp(running, { content: "x" })).rejects.toMatchObject({ code: 10015 });
    await expect(rest.get(Routes.webhookMessage("1", "x"), { auth: false })).rejects.toMatchObject({ code: 10015 });
  });

  it("are dead after 3 seconds without an acknowledgement", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const running = run();
    vi.advanceTimersByTime(3_001);
    await expect(callback(running, ChannelMessageWithSource, { content: "late" })).rejects.toMatchObject({
      code: 10062,
    });
    await expect(running.answer()).rejects.toThrow("The application did not respond");
  });

  it("stay open as a webhook for 15 minutes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const running = run();
    await callback(running, ChannelMessageWithSource, { content: "done" });
    vi.advanceTimersByTime(14 * 60_000);
    await followUp(running, { content: "more" });
    vi.advanceTimersByTime(60_001);
    await expect(followUp(running, { content: "too late" })).rejects.toMatchObject({ code: 50027, status: 401 });
  });

  it("hold the same limits of length as everywhere, and take nothing that is refused", async () => {
    const running = run();
    await expect(callback(running, ChannelMessageWithSource, { content: "" })).rejects.toMatchObject({ code: 50006 });
    await expect(callback(running, ChannelMessageWithSource, { content: "x".repeat(2_001) })).rejects.toMatchObject({
      code: 50035,
    });
    await callback(running, ChannelMessageWithSource, { content: "fits" });
    await expect(followUp(running, { content: "" })).rejects.toMatchObject({ code: 50006 });
    expect(running.messages.map(({ content }) => content)).toEqual(["fits"]);
  });

  it("say loudly which kinds of answers they don't have", async () => {
    await expect(callback(run(), InteractionResponseType.Modal, {})).rejects.toMatchObject({ status: 501 });
    expect(unknown).toEqual(["interaction response type 9"]);
  });

  describe("for buttons", () => {
    const ask = (disabled = false) =>
      rest.post(Routes.channelMessages(sandbox.general.id), {
        body: {
          content: "Sure?",
          components: [{ type: 1, components: [{ type: 2, style: 1, label: "Yes", custom_id: "yes", disabled }] }],
        },
      }) as Promise<APIMessage>;

    it("update the message that was clicked on", async () => {
      const question = await ask();
      const running = sandbox.owner.clicks("Yes", { in: "general" });
      expect(running.interaction.asked).toMatchObject({ customId: "yes", messageId: question.id });
      await callback(running, UpdateMessage, { content: "Agreed", components: [] });
      expect(sandbox.text("general")).toBe("Threadkeeper: Agreed");
      expect(() => sandbox.owner.clicks("Yes", { in: "general" })).toThrow("Ada sees no button Yes");
    });

    it("acknowledge without a word, and answer later", async () => {
      await ask();
      const running = sandbox.owner.clicks("Yes", { in: "general" });
      await callback(running, DeferredMessageUpdate);
      expect((await running.acknowledgement()).status).toBe("acknowledged");
      await followUp(running, { content: "only for you", flags: MessageFlags.Ephemeral });
      expect((await running.answer()).content).toBe("only for you");
      expect(sandbox.text("general")).toContain("Threadkeeper: Sure?\n  [Yes]");
    });

    it("don't press a button that is switched off, and update nothing for a command", async () => {
      await ask(true);
      expect(() => sandbox.owner.clicks("Yes", { in: "general" })).toThrow("switched off");
      await expect(callback(run(), UpdateMessage, { content: "x" })).rejects.toMatchObject({ code: 50035 });
    });
  });
});
