import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type Program, programFolder } from "./support/program.ts";

const place = programFolder();

/** A provider that speaks as fast as the test lets it. */
let provider: Server;
let requests: string[];
let streams: ServerResponse[];
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startSandbox({ keepToken: true });
  requests = [];
  streams = [];
  provider = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      requests.push(body);
      response.writeHead(200, { "content-type": "text/event-stream" });
      streams.push(response);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
  await sandbox.close();
});

function write(stream: ServerResponse | undefined, delta: object, finish: string | null = null): void {
  const chunk = {
    id: "1",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  stream?.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

function finish(stream: ServerResponse | undefined): void {
  write(stream, {}, "stop");
  stream?.end("data: [DONE]\n\n");
}

async function startBot(): Promise<Program> {
  const { port } = provider.address() as AddressInfo;
  const program = place.run(["start"], {
    DISCORD_TOKEN: sandbox.botToken,
    DISCORD_API_URL: sandbox.api,
    MODEL: "openai-compatible:m",
    MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
    SESSION_STORE: "sqlite:data/sessions.sqlite",
  });
  await program.prints("is on Discord");
  return program;
}

const asked = (count: number) => expect.poll(() => requests.length, { timeout: 20_000 }).toBe(count);

describe("SIGTERM in a run", () => {
  it("lets the answer be finished and drawn, stores what comes meanwhile, and the next process answers that", async () => {
    const first = await startBot();
    const mention = sandbox.owner.mentions(sandbox.bot, "Tell me of the whale.");
    await asked(1);
    write(streams[0], { role: "assistant", content: "The whale is " });
    const thread = sandbox.channel(mention);
    await sandbox.until(() => sandbox.text(thread).includes("The whale is"), { timeoutMs: 20_000 });
    sandbox.owner.says(thread, "And of the shark.");
    await expect.poll(() => sandbox.messages(thread).length).toBe(3);
    const ended = first.kill("SIGTERM");
    await first.prints("SIGTERM: stopping");
    write(streams[0], { content: "white." });
    finish(streams[0]);
    expect(await ended).toBe(0);
    expect(sandbox.text(thread)).toContain("Threadkeeper: The whale is white.");
    expect(requests).toHaveLength(1);

    await startBot();
    await asked(2);
    write(streams[1], { role: "assistant", content: "The shark is grey." });
    finish(streams[1]);
    await sandbox.until(() => sandbox.text(thread).includes("The shark is grey."), { timeoutMs: 20_000 });
    expect(requests[1]).toContain("The whale is white.");
    expect(sandbox.text(thread).match(/The shark is grey\./g)).toHaveLength(1);
  });

  it("hands back a run that does not end in ten seconds: the next process answers it once", async () => {
    const first = await startBot();
    const mention = sandbox.owner.mentions(sandbox.bot, "Tell me of the whale.");
    await asked(1);
    expect(await first.kill("SIGTERM")).toBe(0);
    const thread = sandbox.channel(mention);
    expect(sandbox.text(thread)).not.toContain("Threadkeeper:");

    await startBot();
    await asked(2);
    expect(requests[1]).toContain("Tell me of the whale.");
    write(streams[1], { role: "assistant", content: "It is white." });
    finish(streams[1]);
    await sandbox.until(() => sandbox.text(thread).includes("It is white."), { timeoutMs: 20_000 });
    sandbox.owner.says(thread, "Are you sure?");
    await asked(3);
    expect(requests[2]).toContain("It is white.");
  });
});
