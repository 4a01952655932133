import { type REST, Routes } from "discord.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RateLimited, RateLimits } from "../../../src/sandbox/rest/rate-limits.ts";
import { routeOf } from "../../../src/sandbox/rest/route.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { botRest } from "../support/bot-rest.ts";

describe("RateLimits", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sending = routeOf("POST", "/channels/111111/messages");
  const caught = (act: () => void): RateLimited => {
    try {
      act();
    } catch (error) {
      if (error instanceof RateLimited) return error;
    }
    throw new Error("nothing was limited");
  };

  it("lets 5 messages or edits through in 5 seconds and says how many are left", () => {
    const limits = new RateLimits(true);
    const left = [1, 2, 3, 4, 5].map(() => limits.take(sending)["x-ratelimit-remaining"]);
    expect(left).toEqual(["4", "3", "2", "1", "0"]);
    vi.advanceTimersByTime(2_000);
    const refused = caught(() => limits.take(routeOf("PATCH", "/channels/111111/messages/222222")));
    expect(refused).toMatchObject({ retryAfter: 3, isGlobal: false });
    expect(refused.headers).toMatchObject({
      "retry-after": "3.000",
      "x-ratelimit-scope": "user",
      "x-ratelimit-limit": "5",
    });
    vi.advanceTimersByTime(3_000);
    expect(limits.take(sending)["x-ratelimit-remaining"]).toBe("4");
  });

  it("counts each channel by itself, and reading not at all", () => {
    const limits = new RateLimits(true);
    for (let count = 0; count < 5; count++) limits.take(sending);
    expect(limits.take(routeOf("POST", "/channels/333333/messages"))).toMatchObject({ "x-ratelimit-remaining": "4" });
    expect(limits.take(routeOf("GET", "/channels/111111/messages"))).toEqual({});
  });

  it("lets 50 requests a second through in all, interactions apart", () => {
    const limits = new RateLimits(true);
    for (let count = 0; count < 50; count++) limits.take(routeOf("GET", `/channels/${100_000 + count}`));
    const refused = caught(() => limits.take(sending));
    expect(refused).toMatchObject({ isGlobal: true, retryAfter: 1 });
    expect(refused.headers).toMatchObject({ "x-ratelimit-global": "true", "x-ratelimit-scope": "global" });
    limits.take(routeOf("POST", "/interactions/111111/token/callback"));
    limits.take(routeOf("PATCH", "/webhooks/111111/token/messages/@original"));
    vi.advanceTimersByTime(1_000);
    limits.take(sending);
  });

  it("lets a name change twice in 10 minutes", () => {
    const limits = new RateLimits(true);
    limits.takeRename("111111");
    limits.takeRename("111111");
    limits.takeRename("222222");
    expect(caught(() => limits.takeRename("111111")).retryAfter).toBe(600);
  });

  it("lets old messages be edited now and then, and says 30046", () => {
    const limits = new RateLimits(true);
    for (let count = 0; count < 3; count++) limits.takeOldEdit("111111");
    expect(caught(() => limits.takeOldEdit("111111"))).toMatchObject({ code: 30046 });
  });

  it("lets everything through when it is switched off", () => {
    const limits = new RateLimits(false);
    for (let count = 0; count < 200; count++) expect(limits.take(sending)).toEqual({});
    for (let count = 0; count < 5; count++) limits.takeRename("111111");
  });
});

describe("the sandbox's limits over the wire", () => {
  let sandbox: Sandbox;
  let rest: REST;
  beforeEach(async () => {
    sandbox = await startSandbox();
    rest = botRest(sandbox);
  });
  afterEach(() => sandbox.close());

  const send = (content: string) => rest.post(Routes.channelMessages(sandbox.general.id), { body: { content } });

  it("tell discord.js by their headers to wait, so that it meets no 429", async () => {
    await Promise.all(["1", "2", "3", "4", "5", "6"].map(send));
    expect(sandbox.messages("general")).toHaveLength(6);
    expect(sandbox.counters.rateLimited).toBe(0);
  });

  it("answer a client that doesn't look with 429 and when to come again", async () => {
    const post = () =>
      fetch(`${sandbox.api}/v10/channels/${sandbox.general.id}/messages`, {
        method: "POST",
        headers: { authorization: `Bot ${sandbox.botToken}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "x" }),
      });
    const answers = [];
    for (let count = 0; count < 6; count++) answers.push(await post());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const body = (await answers[5]?.json()) as { retry_after: number };
    expect(body).toMatchObject({ global: false, message: "You are being rate limited." });
    expect(body.retry_after).toBeGreaterThan(0);
    expect(sandbox.counters.rateLimited).toBe(1);
    expect(sandbox.messages("general")).toHaveLength(5);
  });

  it("refuse the third new name of a thread, and not what isn't one", async () => {
    const { id } = (await rest.post(Routes.threads(sandbox.general.id, sandbox.owner.says("general", "x").id), {
      body: { name: "0" },
    })) as { id: string };
    const rename = (name: string) =>
      fetch(`${sandbox.api}/v10/channels/${id}`, {
        method: "PATCH",
        headers: { authorization: `Bot ${sandbox.botToken}`, "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });
    const statuses = [];
    for (const name of ["1", "1", "2", "3"]) statuses.push((await rename(name)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(sandbox.channel(id)).toMatchObject({ name: "2" });
  });

  it("let a message that is older than an hour be edited three times in a while, and say 30046", async () => {
    const body = { content: "old" };
    const { id } = (await rest.post(Routes.channelMessages(sandbox.general.id), { body })) as { id: string };
    const state = sandbox.state;
    Object.assign(state.messages[sandbox.general.id]?.[0] ?? {}, {
      createdAt: new Date(Date.now() - 3_700_000).toISOString(),
    });
    const later = await startSandbox({ state });
    const answers = [];
    for (const content of ["1", "2", "3", "4"]) {
      const answer = await fetch(`${later.api}/v10/channels/${sandbox.general.id}/messages/${id}`, {
        method: "PATCH",
        headers: { authorization: `Bot ${later.botToken}`, "content-type": "application/json" },
        body: JSON.stringify({ content }),
      });
      answers.push([answer.status, ((await answer.json()) as { code?: number }).code]);
    }
    expect(answers).toEqual([
      [200, undefined],
      [200, undefined],
      [200, undefined],
      [429, 30046],
    ]);
    await later.close();
  });
});
