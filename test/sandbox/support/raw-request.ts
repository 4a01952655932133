import { connect } from "node:net";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

const upgrading = [
  "connection: Upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** A request line and headers as they are, which no client would send; resolves with the status, 0 if none came. */
export function rawRequest(
  sandbox: Sandbox,
  target: string,
  { method = "GET", isUpgrade = false, headers = [] as readonly string[], host = new URL(sandbox.origin).host } = {},
): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(sandbox.origin).port), "127.0.0.1");
    let answer = "";
    const end = () => {
      socket.destroy();
      resolve(Number(answer.match(/^HTTP\/1\.1 (\d{3})/)?.[1] ?? 0));
    };
    socket.on("data", (data) => {
      answer += data;
      if (answer.includes("\r\n")) end();
    });
    socket.on("error", end);
    socket.on("close", end);
    const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`, ...headers, ...(isUpgrade ? upgrading : [])];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
}

/** An upgrade to a path, whose sender resets the connection before the answer can reach it. */
export function resetUpgrade(sandbox: Sandbox, target: string): Promise<void> {
  return new Promise((resolve) => {
    const { host, port } = new URL(sandbox.origin);
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write([`GET ${target} HTTP/1.1`, `host: ${host}`, ...upgrading, "", ""].join("\r\n"), () =>
        socket.resetAndDestroy(),
      );
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
}
