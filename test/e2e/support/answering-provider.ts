import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { decodeUtterances } from "../../../src/agent/speaker-label.ts";

/** One call that a bot made, from its first byte to its last. */
export interface ProviderCall {
  /** Which bot made it, by its own address. */
  readonly from: string;
  /** What was said in the turn that is to be answered. */
  readonly questions: readonly string[];
  /** How many pieces of the answer were written. */
  readonly written: number;
  readonly over: boolean;
}

export interface AnsweringProvider {
  /** The setting MODEL_BASE_URL of the bot with this name. */
  baseUrl(name: string): string;
  readonly calls: readonly ProviderCall[];
}

/** A provider that speaks OpenAI's protocol, whoever asks and however many at once; its answer comes piece by piece. */
export async function answeringProvider(
  answer: (questions: readonly string[]) => readonly string[],
  betweenMs: number,
): Promise<AnsweringProvider> {
  const calls: { from: string; questions: readonly string[]; written: number; over: boolean }[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const from = request.url?.split("/")[1] ?? "";
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const call = { from, questions: questionsIn(body), written: 0, over: false };
    calls.push(call);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of answer(call.questions)) {
      if (response.closed) break;
      response.write(chunk({ role: "assistant", content }, null));
      call.written += 1;
      await pause(betweenMs);
    }
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
    call.over = true;
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { calls, baseUrl: (name) => `http://127.0.0.1:${port}/${name}/v1` };
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices })}\n\n`;
}

function questionsIn(body: string): string[] {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: string | { text?: string }[] }[] };
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(answered + 1)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (typeof content === "string" ? [content] : content.map(({ text }) => text ?? "")))
    .flatMap(decodeUtterances)
    .filter(({ kind }) => kind === "said")
    .map(({ text }) => text);
}
