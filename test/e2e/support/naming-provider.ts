import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { decodeUtterances } from "../../../src/agent/speaker-label.ts";

/** Stands in every question of a kill run, and in every line of its answer. */
export const questionName = (number: number): string => `question-${number}.`;
const questionNames = /question-\d+\./g;

export function namesIn(text: string): string[] {
  return [...new Set(text.match(questionNames))];
}

export interface NamingProvider {
  /** For `MODEL_BASE_URL`. */
  readonly url: string;
  readonly calls: number;
  close(): Promise<void>;
}

export interface ProviderWatch {
  onCall?(): void;
  onPiece?(): void;
}

/**
 * A provider that speaks OpenAI's protocol, slowly and piece by piece. Every line of an answer names what it answers,
 * and the call that made it, so that no two calls say the same: a message that is left over from a call whose process
 * was killed can be told from the right one. One in three answers begins with a tool call, half of those with words
 * before it; answers have 1 to 3 messages' length.
 */
export async function startNamingProvider(watch: ProviderWatch = {}): Promise<NamingProvider> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    calls += 1;
    const call = calls;
    watch.onCall?.();
    const body = await textOf(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    await speak(response, answerTo(JSON.parse(body).messages, call), watch, Math.ceil(body.length / 4));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get calls() {
      return calls;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface WireMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly unknown[];
}

interface Said {
  readonly text: string;
  readonly callsTool: boolean;
}

function answerTo(messages: readonly WireMessage[], call: number): Said {
  const answered = messages.findLastIndex(({ role, tool_calls }) => role === "assistant" && !tool_calls?.length);
  const open = messages.slice(answered + 1);
  const asked = open.filter(({ role }) => role === "user").flatMap((message) => decodeUtterances(textIn(message)));
  const names = asked.filter(({ kind }) => kind === "said").flatMap(({ text }) => namesIn(text));
  const number = Number(/\d+/.exec(names[0] ?? "0")?.[0]);
  const saw = open.some(({ role }) => role === "tool");
  if (number % 3 === 1 && !saw) return { text: number % 2 ? `Looking, ${names.join(" ")}` : "", callsTool: true };
  const lines = [2, 40, 90][number % 3 === 0 ? 0 : number % 2 ? 1 : 2] ?? 2;
  const text = Array.from({ length: lines }, (_, line) => `Line ${line} of call ${call} answers ${names.join(" ")}`);
  return { text: text.join("\n"), callsTool: false };
}

function textIn({ content }: WireMessage): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");
}

async function speak(response: ServerResponse, said: Said, watch: ProviderWatch, promptTokens: number): Promise<void> {
  const send = (delta: object, finish: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const usage = finish
      ? { prompt_tokens: promptTokens, completion_tokens: Math.ceil(said.text.length / 4) }
      : undefined;
    const chunk = { id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices, usage };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: "assistant" });
  const pieces = 6;
  const length = Math.ceil(said.text.length / pieces) || 1;
  for (let start = 0; start < said.text.length && !response.destroyed; start += length) {
    send({ content: said.text.slice(start, start + length) });
    watch.onPiece?.();
    await pause(60);
  }
  if (said.callsTool) {
    const tool = { index: 0, id: `call_${promptTokens}`, type: "function" };
    send({ tool_calls: [{ ...tool, function: { name: "current_time", arguments: '{"zone":"UTC"}' } }] });
  }
  send({}, said.callsTool ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
