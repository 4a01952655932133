import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Fixture, type FixtureResponse, LLMock } from "@copilotkit/aimock";

/** One answer of the server, in order; `truncateAfterChunks` breaks the stream off. */
export interface ServedStep extends Pick<Fixture, "truncateAfterChunks" | "chunkSize"> {
  readonly response: FixtureResponse;
}

export interface ModelServer {
  /** Without a path; OpenAI's and Anthropic's API is under `/v1`, Google's under `/v1beta`. */
  readonly url: string;
  /** The requests as they came over the wire, oldest first. */
  readonly requests: readonly { readonly path: string; readonly body: string }[];
  stop(): Promise<void>;
}

/**
 * aimock (which speaks the providers' protocols) behind a door that keeps the requests as they came. Serves one step
 * per request; a request that is not in the script gets a 418, which nobody retries.
 */
export async function modelServer(steps: readonly ServedStep[]): Promise<ModelServer> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  let served = 0;
  steps.forEach(({ response, ...options }, index) => {
    const serve = () => {
      served += 1;
      return response;
    };
    mock.addFixture({ match: { predicate: () => served === index }, response: serve, ...options });
  });
  const unscripted = { status: 418, error: { message: "this request is not in the script" } };
  mock.addFixture({ match: { predicate: () => served >= steps.length }, response: unscripted });
  const inner = await mock.start();
  const requests: { path: string; body: string }[] = [];

  const door = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await textOf(request);
    requests.push({ path, body });
    const headers = { "content-type": "application/json" };
    try {
      const answer = await fetch(inner + path, { method: "POST", headers, body });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      await pipeline(Readable.fromWeb(answer.body as never), response);
    } catch {
      // aimock broke off, so the door does.
      response.destroy();
    }
  });
  const url = await listen(door);
  return {
    url,
    requests,
    async stop() {
      door.closeAllConnections();
      await new Promise((resolve) => door.close(resolve));
      await mock.stop();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}
