import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Redis server of one test alone, with settings of its own, which can be killed and started again. */
export interface OwnRedis {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function ownRedis(...settings: string[]): Promise<OwnRedis> {
  const directory = await mkdtemp(join(tmpdir(), "threadkeeper-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const own: OwnRedis = {
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      const usual = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", directory];
      child = spawn("redis-server", [...usual, ...settings], { stdio: ["ignore", "pipe", "inherit"] });
      for await (const chunk of child.stdout as NonNullable<ChildProcess["stdout"]>) {
        if (String(chunk).includes("Ready to accept connections")) break;
      }
    },
    kill: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
    remove: async () => {
      await own.kill();
      await rm(directory, { recursive: true });
    },
  };
  await own.start();
  return own;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
