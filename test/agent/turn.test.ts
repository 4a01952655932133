import { Writable } from "node:stream";
import { APICallError } from "ai";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/log.ts";
import { agentRoom, drain } from "../support/agent-room.ts";

describe("a failed turn in the log", () => {
  it("stands there under its reference: what happened for every day, what the provider said for debug", async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    const said = "Your account may not use this feature.";
    const refusal = new APICallError({
      message: said,
      url: "http://127.0.0.1",
      requestBodyValues: {},
      statusCode: 400,
      isRetryable: false,
    });
    const { agent } = await agentRoom([[refusal]], { log: createLogger({ level: "debug", destination }) });
    const { events } = await drain(agent.stream("What Ada asked.", { sessionId: "room" }));
    const failed = events.find((event) => event.type === "turn-failed");
    const reference = failed?.type === "turn-failed" ? failed.reference : "";
    const about = lines.filter((line) => line["reference"] === reference);
    expect(about).toEqual([
      expect.objectContaining({ level: 50, code: "MODEL_FAILED", status: 400 }),
      expect.objectContaining({ level: 20, providerText: said }),
    ]);
    expect(JSON.stringify(lines)).not.toContain("What Ada asked.");
  });
});
