import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { GatewayOpcodes } from "discord.js";
import { describe, expect, it, vi } from "vitest";
import { WebSocketServer } from "ws";
import type { Conversation } from "../../src/conversation/conversation.ts";
import type { Memory } from "../../src/conversation/memory.ts";
import { createBot } from "../../src/discord/bot.ts";
import type { ThreadkeeperError } from "../../src/errors.ts";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse } from "./support/house.ts";
import { answerTo, asks, botTexts, forgottenByDiscordJs, gate, opensThread } from "./support/talk.ts";

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function* nothing(): AsyncGenerator<never, void> {}

const nothingKnown: Memory = {
  amend: async () => false,
  erase: async () => 0,
  forget: async () => false,
  forgetPlace: async () => 0,
  places: async () => [],
  sessionsIn: async () => [],
  heard: async () => ({ waiting: [], said: [], nearby: [] }),
};

const echo = () => answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);

describe("a start", () => {
  it("tells where the bot is and how to invite it", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const house = await start();
    expect(house.userName).toBe(sandbox.bot.name);
    expect(house.guilds).toEqual([{ id: sandbox.guild.id, name: sandbox.guild.name }]);
    expect(new URL(house.inviteLink).searchParams.get("client_id")).toBe(sandbox.bot.id);
  });

  it("without the Message Content intent ends with one clear message and no storm of connections", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    sandbox.faults.refuseIntent("MessageContent");
    await expect(start()).rejects.toMatchObject({
      code: "DISCORD_INTENT_REFUSED",
      message: expect.stringContaining("Message Content Intent"),
    });
    expect(sandbox.counters).toMatchObject({ connections: 1, identifies: 0 });
  });

  it("with a bad token says so, whether Discord's API or its gateway refuses it", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const refused = { code: "DISCORD_TOKEN_REFUSED", message: expect.stringContaining("DISCORD_TOKEN") };
    await expect(start({ bot: { token: "not-the-token" } })).rejects.toMatchObject(refused);
    await expect(start({ bot: { token: "" } })).rejects.toMatchObject(refused);
    expect(sandbox.counters.identifies).toBe(0);
  });

  it("where nobody listens says that Discord can't be reached", async () => {
    const { start } = await openHouse({ model: echo() });
    await expect(start({ bot: { api: "http://127.0.0.1:9/api" } })).rejects.toMatchObject({
      code: "DISCORD_UNREACHABLE",
    });
  });

  it("whose gateway does not answer ends in time, and nothing goes on trying", async () => {
    let tries = 0;
    const gateway = createServer((socket) => {
      tries += 1;
      socket.destroy();
    });
    const gatewayUrl = `ws://127.0.0.1:${await listening(gateway)}`;
    const limit = { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: 1 };
    const api = createHttpServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ url: gatewayUrl, shards: 1, session_start_limit: limit }));
    });
    const { start } = await openHouse({ model: echo() });
    const bot = { api: `http://127.0.0.1:${await listening(api)}/api`, readyWithinMs: 700 };
    await expect(start({ bot })).rejects.toMatchObject({ code: "DISCORD_UNREACHABLE" });
    const before = tries;
    expect(before).toBeGreaterThan(0);
    await pause(1_300);
    expect(tries).toBe(before);
    gateway.close();
    api.close();
  });

  it("registers the commands, and again only when they have changed", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const put = () => sandbox.counters.requests["PUT /applications/:id/commands"] ?? 0;
    const first = await start();
    expect(sandbox.state.commands.map(({ name }) => name).sort()).toEqual(["fork", "help", "reset", "stop", "undo"]);
    expect(put()).toBe(1);
    await first.stop();
    await start();
    expect(put()).toBe(1);
  });

  it("whose commands can't be registered answers messages all the same", async () => {
    const { sandbox, start, logged } = await openHouse({ model: echo() });
    sandbox.faults.fail({ route: "PUT /applications/:id/commands", status: 400, code: 50035 });
    await start({ awaitsCommands: false });
    await opensThread(sandbox, sandbox.owner, "hello");
    await vi.waitUntil(() => logged.some(({ level, msg }) => level === 50 && String(msg).includes("commands")));
  });

  it("does not wait for commands that Discord is slow to register", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    sandbox.faults.fail({ route: "GET /applications/:id/commands", status: 429, retryAfter: 60 });
    await start({ awaitsCommands: false });
    await opensThread(sandbox, sandbox.owner, "hello");
    expect(sandbox.state.commands).toEqual([]);
  });

  it("connects in as many parts as Discord asks for", async () => {
    const shards: unknown[] = [];
    const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    sockets.on("connection", (socket) => {
      socket.send(JSON.stringify({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: 45_000 } }));
      socket.on("message", (frame) => {
        const { op, d } = JSON.parse(String(frame));
        if (op === GatewayOpcodes.Identify) shards.push(d.shard);
      });
    });
    const limit = { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: 2 };
    const api = createHttpServer((_request, response) => {
      const { port } = sockets.address() as AddressInfo;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ url: `ws://127.0.0.1:${port}`, shards: 2, session_start_limit: limit }));
    });
    const conversation = { handle: nothing, resume: nothing, close: async () => {}, memory: nothingKnown };
    const address = `http://127.0.0.1:${await listening(api)}/api`;
    const bot = createBot({ token: "x", api: address, conversation, readyWithinMs: 1_500 });
    await expect(bot.start()).rejects.toMatchObject({ code: "DISCORD_UNREACHABLE" });
    expect(shards).toEqual([
      [0, 2],
      [1, 2],
    ]);
    sockets.close();
    api.close();
  });
});

describe("a connection that drops", () => {
  it("and can be resumed loses no message", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.dropSockets({ resumable: true });
    sandbox.owner.says(thread, "are you there?");
    await answerTo(sandbox, thread, 1);
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: are you there?"]);
    expect(sandbox.counters.resumes).toBe(1);
  });

  it("because Discord asks for it is taken up again", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.askToReconnect();
    sandbox.owner.says(thread, "are you there?");
    await answerTo(sandbox, thread, 1);
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: are you there?"]);
  });

  it("and can't be resumed is made anew, and the thread goes on", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.dropSockets({ resumable: false });
    await sandbox.until(() => sandbox.counters.identifies === 2, { timeoutMs: 20_000 });
    await asks(sandbox, sandbox.owner, thread, "are you there?");
    expect(botTexts(sandbox, thread)).toEqual(["heard: hello", "heard: are you there?"]);
  }, 30_000);

  it("during an answer doesn't hurt the answer", async () => {
    const model = answeringModel(async function* ({ questions }) {
      yield "heard";
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      yield `: ${questions.join(" | ")}`;
    });
    const { sandbox, start } = await openHouse({ model });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    sandbox.faults.dropSockets({ resumable: true });
    await sandbox.until(() => botTexts(sandbox, thread)[0] === "heard: hello");
  });

  it("just before the end does not come back behind it", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    const house = await start();
    sandbox.faults.dropSockets({ resumable: true });
    await pause(100);
    await house.stop();
    await pause(1_300);
    expect(sandbox.counters).toMatchObject({ connections: 1, resumes: 0 });
  });

  it("because the bot leaves is not told as if it came back", async () => {
    const { start, logged } = await openHouse({ model: echo() });
    const house = await start();
    await house.stop();
    expect(logged.map(({ msg }) => msg)).not.toContain("connecting to Discord again");
  });

  it("because the bot is shut out is told, once", async () => {
    const shutOut = vi.fn<(error: ThreadkeeperError) => void>();
    const { sandbox, start } = await openHouse({ model: echo(), bot: { onShutOut: shutOut } });
    await start();
    sandbox.faults.refuseIntent("MessageContent");
    sandbox.faults.dropSockets({ resumable: false });
    await vi.waitUntil(() => shutOut.mock.calls.length > 0, { timeout: 20_000 });
    expect(shutOut.mock.calls.map(([{ code }]) => code)).toEqual(["DISCORD_INTENT_REFUSED"]);
  }, 30_000);
});

describe("a message that is delivered again", () => {
  it("is answered once, also by a process that never saw it", async () => {
    const model = echo();
    const { sandbox, start } = await openHouse({ model });
    const first = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    const question = sandbox.owner.says(thread, "only once");
    await answerTo(sandbox, thread, 1);
    forgottenByDiscordJs(sandbox, thread);
    sandbox.faults.redeliver(question);
    await asks(sandbox, sandbox.owner, thread, "still there?");
    await first.stop();
    await start();
    sandbox.faults.redeliver(question);
    await asks(sandbox, sandbox.owner, thread, "and now?");
    expect(model.shown.map(({ questions }) => questions)).toEqual([
      ["hello"],
      ["only once"],
      ["still there?"],
      ["and now?"],
    ]);
  });
});

describe("an outage of the server", () => {
  it("hurts no answer that is under way, and when it ends the thread goes on", async () => {
    const outage = gate();
    const model = answeringModel(async function* ({ questions, call }) {
      yield "heard";
      if (call === 1) await outage.opened;
      yield `: ${questions.join(" | ")}`;
    });
    const { sandbox, start, logged } = await openHouse({ model });
    await start();
    const thread = await opensThread(sandbox, sandbox.owner, "hello");
    await sandbox.until(() => botTexts(sandbox, thread)[0] === "heard: hello");
    sandbox.owner.says(thread, "just before");
    await sandbox.until(() => botTexts(sandbox, thread)[1] === "heard");
    const end = sandbox.faults.outage();
    sandbox.owner.says(thread, "in the outage");
    await pause(200);
    outage.open();
    await sandbox.until(() => botTexts(sandbox, thread)[1] === "heard: just before");
    end();
    sandbox.owner.says(thread, "are you there?");
    await sandbox.until(() => botTexts(sandbox, thread).join().includes("are you there?"));
    const later = botTexts(sandbox, thread).slice(2).join(" | ").replaceAll("heard: ", "");
    expect(later).toBe("in the outage | are you there?");
    expect(logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });
});

describe("a bot whose intake is closed", () => {
  it("hands nothing more to the conversation, be it a message or a command", async () => {
    const heard: string[] = [];
    const conversation: Conversation = {
      handle({ kind }) {
        heard.push(kind);
        return nothing();
      },
      resume: nothing,
      close: async () => {},
      memory: nothingKnown,
    };
    const { sandbox } = await openHouse({ model: echo() });
    const bot = createBot({ token: sandbox.botToken, api: sandbox.api, conversation });
    await bot.start();
    sandbox.owner.mentions(sandbox.bot, "hello");
    await vi.waitUntil(() => heard.length === 1);
    bot.closeIntake();
    const thread = sandbox.owner.mentions(sandbox.bot, "hello?");
    sandbox.owner.runs("/stop", { in: "general" });
    await pause(200);
    await bot.stop();
    expect(heard).toEqual(["message"]);
    expect(sandbox.findChannel(thread.id)).toBeUndefined();
  });
});

describe("a stream of the conversation that breaks", () => {
  it("leaves nobody typing", async () => {
    const { sandbox, start } = await openHouse({ model: echo() });
    await (await start()).stop();
    const conversation: Conversation = {
      async *handle({ replyTo }) {
        yield { type: "turn-start", turn: "t1", inputs: [], replyTo };
        throw new Error("broken");
      },
      resume: nothing,
      close: async () => {},
      memory: nothingKnown,
    };
    const bot = createBot({ token: sandbox.botToken, api: sandbox.api, conversation });
    await bot.start();
    sandbox.owner.says(sandbox.directMessages(sandbox.owner), "hello");
    await pause(1_000);
    await bot.stop();
    expect(sandbox.counters.requests["POST /channels/:id/typing"]).toBeUndefined();
  });
});

describe("a bot that never started", () => {
  it("can be stopped", async () => {
    const conversation = { handle: nothing, resume: nothing, close: async () => {}, memory: nothingKnown };
    const bot = createBot({ token: "x", api: "http://127.0.0.1:9/api", conversation });
    await bot.stop();
  });
});
