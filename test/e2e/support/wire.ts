import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Where a wire breaks: at the n-th request (from 0) that fits, before Discord has it or before its answer is back. */
export interface Break {
  readonly when: "before" | "after";
  readonly number: number;
  readonly fits: (what: string) => boolean;
}

export interface Wire {
  /** For a bot, in the place of the sandbox's own. */
  readonly api: string;
  /** Resolves when it is broken: nothing comes through any more, as if the bot's process were dead. */
  readonly broken: Promise<void>;
}

/** The way from one bot to the sandbox's REST, which breaks at one request. Ends with the test. */
export async function openWire(sandbox: { readonly origin: string }, planned: Break): Promise<Wire> {
  let isCut = false;
  let left = planned.number;
  let tell = () => {};
  const broken = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const server = createServer((asked, answer) => {
    const what = `${asked.method} ${asked.url?.split("?")[0]}`;
    const isIt = planned.fits(what) && left-- === 0;
    if (isIt && planned.when === "before") cut();
    if (isCut) return;
    pass(sandbox.origin, asked, answer, () => {
      if (isIt) cut();
    });
  });
  server.on("connection", (socket) => {
    if (isCut) socket.destroy();
  });
  const cut = () => {
    isCut = true;
    server.closeAllConnections();
    tell();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, broken };
}

function pass(origin: string, asked: IncomingMessage, answer: ServerResponse, onAnswer: () => void): void {
  const headers = { ...asked.headers, host: new URL(origin).host };
  const forwarded = request(new URL(asked.url ?? "", origin), { method: asked.method ?? "GET", headers }, (given) => {
    onAnswer();
    if (answer.destroyed) given.resume();
    else given.pipe(answer.writeHead(given.statusCode ?? 500, given.headers));
  });
  forwarded.on("error", () => answer.destroy());
  asked.pipe(forwarded);
}
