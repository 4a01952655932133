import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that a test can close, reopen and freeze. */
export interface TcpProxy {
  readonly port: number;
  /** `through`: as if it were not there. `refuse`: all connections end, new ones too. `freeze`: nothing goes through, nothing ends. */
  set(mode: "through" | "refuse" | "freeze"): void;
  /** Called with what the server answers, before it goes on; for a cut at a certain moment. */
  onAnswer: ((bytes: Buffer) => void) | undefined;
  close(): Promise<void>;
}

export async function tcpProxy(host: string, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let mode: Parameters<TcpProxy["set"]>[0] = "through";
  const server = createServer((near) => {
    sockets.add(near);
    near.on("error", () => near.destroy());
    near.on("close", () => sockets.delete(near));
    if (mode === "refuse") return void near.destroy();
    if (mode === "freeze") return void near.pause();
    const far = connect({ host, port });
    sockets.add(far);
    far.on("error", () => near.destroy());
    far.on("close", () => {
      sockets.delete(far);
      near.destroy();
    });
    near.on("close", () => far.destroy());
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      proxy.onAnswer?.(bytes);
      near.write(bytes);
    });
  });
  const proxy: TcpProxy = {
    port: 0,
    onAnswer: undefined,
    set(next) {
      mode = next;
      for (const socket of sockets) {
        if (next === "refuse") socket.destroy();
        else if (next === "freeze") socket.pause();
        else socket.resume();
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port });
}
