import { type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { botRest } from "./support/bot-rest.ts";

// What the gateway tells of faults is in gateway/, failing and slow requests are in rest/request-faults.test.ts.
describe("faults", () => {
  let sandbox: Sandbox;
  let rest: REST;
  beforeEach(async () => {
    sandbox = await startSandbox({ limits: false });
    rest = botRest(sandbox);
  });
  afterEach(() => sandbox.close());

  const send = (channel: { id: string }) => rest.post(Routes.channelMessages(channel.id), { body: { content: "x" } });

  it("take a permission away in one channel, named by itself or by a thread in it, and give it back", async () => {
    const other = sandbox.createChannel("other");
    const thread = sandbox.owner.opensThread(sandbox.owner.says(other, "x"), "Thread");
    const giveBack = sandbox.faults.takeAway("SendMessages", { in: "general" });
    const giveBackThreads = sandbox.faults.takeAway("SendMessagesInThreads", { in: thread });
    await expect(send(sandbox.general)).rejects.toMatchObject({ code: 50013 });
    await expect(send(thread)).rejects.toMatchObject({ code: 50013 });
    await send(other);
    giveBack();
    giveBackThreads();
    await send(sandbox.general);
    await send(thread);
  });

  it("take one away everywhere, one after the other", async () => {
    const giveBack = sandbox.faults.takeAway("AttachFiles");
    sandbox.faults.takeAway("SendMessages");
    await expect(send(sandbox.general)).rejects.toMatchObject({ code: 50013 });
    giveBack();
    await send(sandbox.general);
  });

  it("know nothing to take away in a DM", () => {
    const direct = sandbox.directMessages(sandbox.owner);
    sandbox.faults.takeAway("SendMessages", { in: direct });
    expect(sandbox.owner.says(direct, "x").content).toBe("x");
  });

  it("delete a message, several, a thread and a channel over everybody's head", async () => {
    const [one, two, three] = ["1", "2", "3"].map((text) => sandbox.owner.says("general", text));
    const thread = sandbox.owner.opensThread(one as never, "Thread");
    sandbox.faults.deleteMessage(one as never);
    sandbox.faults.deleteMessages([two, three] as never);
    sandbox.faults.deleteMessages([]);
    expect(sandbox.text("general")).toBe("");
    await send(thread);
    sandbox.faults.deleteChannel("Thread");
    await expect(send(thread)).rejects.toMatchObject({ code: 10003 });
    expect(() => sandbox.faults.deleteMessage(one as never)).toThrow("Unknown Message");
  });

  it("limit the active threads until that is ended", () => {
    const end = sandbox.faults.limitActiveThreads(0);
    expect(() => sandbox.owner.opensThread("general", "x")).toThrow("Maximum number of active threads");
    end();
    sandbox.owner.opensThread("general", "x");
  });
});
