import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { resolveModel } from "../../src/agent/model.ts";
import { agentRoom } from "../support/agent-room.ts";

const keys = { OPENAI_API_KEY: "k1", ANTHROPIC_API_KEY: "k2", GOOGLE_GENERATIVE_AI_API_KEY: "k3", MODEL_API_KEY: "k4" };

describe("the setting MODEL", () => {
  it.each([
    ["openai:gpt-5-mini", "openai.responses", "gpt-5-mini"],
    ["anthropic:claude-sonnet-4-5", "anthropic.messages", "claude-sonnet-4-5"],
    ["google:gemini-2.5-flash", "google.generative-ai", "gemini-2.5-flash"],
    ["ollama:llama3.2:3b", "ollama.chat", "llama3.2:3b"],
    ["demo", "demo", "demo"],
  ])("%s", (setting, provider, modelId) => {
    expect(resolveModel(setting, { keys })).toMatchObject({ provider, modelId });
  });

  it("openai-compatible takes any name, and its address", () => {
    const model = resolveModel("openai-compatible:meta/llama-3.3:free", { baseUrl: "http://127.0.0.1:1/v1" });
    expect(model).toMatchObject({ provider: "openai-compatible.chat", modelId: "meta/llama-3.3:free" });
  });

  it.each([
    ["gpt-5", "MODEL_SETTING_INVALID", /MODEL has no known provider in "gpt-5"; there are openai:…, .*demo/],
    ["mistral:large", "MODEL_SETTING_INVALID", /no known provider/],
    ["constructor:x", "MODEL_SETTING_INVALID", /no known provider/],
    ["", "MODEL_SETTING_INVALID", /no known provider/],
    ["openai", "MODEL_SETTING_INVALID", /MODEL names no model of openai; write it as in openai:gpt/],
    ["openai: ", "MODEL_SETTING_INVALID", /names no model/],
    ["openai-compatible:x", "MODEL_SETTING_INVALID", /MODEL_BASE_URL is missing/],
    ["openai:x", "MODEL_KEY_MISSING", /^OPENAI_API_KEY is missing; MODEL=openai:… needs it$/],
    ["anthropic:x", "MODEL_KEY_MISSING", /^ANTHROPIC_API_KEY is missing/],
    ["google:x", "MODEL_KEY_MISSING", /^GOOGLE_GENERATIVE_AI_API_KEY is missing/],
  ])("%j is refused in one sentence that names what to set", (setting, code, message) => {
    expect(() => resolveModel(setting)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it("does not read the environment", () => {
    process.env["OPENAI_API_KEY"] = "from the environment";
    try {
      expect(() => resolveModel("openai:x")).toThrow("OPENAI_API_KEY is missing");
    } finally {
      delete process.env["OPENAI_API_KEY"];
    }
  });

  it("maxRuns bounds the calls that are under way", async () => {
    expect(resolveModel("demo", { maxRuns: 2 })).toMatchObject({ provider: "demo", modelId: "demo" });
  });

  it("a server that cannot be reached is one clear sentence with its address", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const model = resolveModel("ollama:llama3.2", { baseUrl: `http://127.0.0.1:${port}/v1` });
    const { agent } = await agentRoom([], { model });
    await expect(agent.run("hi")).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: `the server of ollama.chat:llama3.2 at http://127.0.0.1:${port} cannot be reached (ECONNREFUSED): is it running?`,
    });
  });
});
