import { type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("faults of requests", () => {
  let sandbox: Sandbox;
  let rest: REST;
  beforeEach(async () => {
    sandbox = await startSandbox();
    rest = botRest(sandbox);
  });
  afterEach(() => sandbox.close());

  const send = (content: string, channel = sandbox.general.id) =>
    rest.post(Routes.channelMessages(channel), { body: { content } });

  it("fail the next sends, and then no more", async () => {
    sandbox.faults.fail({ status: 500, times: 2 });
    for (const text of ["one", "two"]) await expect(send(text)).rejects.toMatchObject({ status: 500 });
    await send("three");
    expect(sandbox.text("general")).toBe("Threadkeeper: three");
  });

  it("make a 429 that discord.js waits out", async () => {
    sandbox.faults.fail({ status: 429, retryAfter: 0.05 });
    await send("one");
    expect(sandbox.text("general")).toBe("Threadkeeper: one");
    expect(sandbox.counters).toMatchObject({ rateLimited: 1, requests: { "POST /channels/:id/messages": 2 } });
  });

  it("make a 429 for the whole bot", async () => {
    sandbox.faults.fail({ status: 429, retryAfter: 0.05, global: true });
    await send("one");
    expect(sandbox.counters.rateLimited).toBe(1);
  });

  it("are aimed at a route or a channel, and can be ended", async () => {
    const other = sandbox.createChannel("other");
    sandbox.faults.fail({ status: 500, channelId: other.id });
    const end = sandbox.faults.fail({
      status: 403,
      code: 50013,
      message: "Missing Permissions",
      route: /^GET /,
      times: 99,
    });
    await send("one");
    await expect(send("two", other.id)).rejects.toMatchObject({ status: 500 });
    await expect(rest.get(Routes.channel(other.id))).rejects.toMatchObject({ status: 403, code: 50013 });
    end();
    await rest.get(Routes.channel(other.id));
  });

  it("lose the answer of a request that was carried out", async () => {
    sandbox.faults.fail({ status: 502, carriedOut: true });
    await expect(send("one")).rejects.toMatchObject({ status: 502 });
    sandbox.faults.fail({ status: "cut", carriedOut: true });
    await expect(send("two")).rejects.toThrow();
    expect(sandbox.text("general")).toBe("Threadkeeper: one\nThreadkeeper: two");
  });

  it("cut the connection before anything is done", async () => {
    sandbox.faults.fail({ status: "cut" });
    await expect(send("one")).rejects.toThrow();
    expect(sandbox.messages("general")).toEqual([]);
  });

  it("answer late", async () => {
    sandbox.faults.slow({ ms: 60, route: "POST /channels/:id/messages" });
    const order: string[] = [];
    const slow = send("slow").then(() => order.push("slow"));
    await rest.get(Routes.user()).then(() => order.push("quick"));
    await slow;
    expect(order).toEqual(["quick", "slow"]);
  });
});
