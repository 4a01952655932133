import { connect } from "node:net";

/** A database server that tests run against, and whether it is there. */
export interface TestServer {
  readonly url: string;
  /** Why its tests are skipped; `undefined`: they run. */
  readonly missing: string | undefined;
}

async function testServer(name: string, variable: string, usual: string): Promise<TestServer> {
  const url = process.env[variable] ?? usual;
  const { hostname, port } = new URL(url);
  if (await answers(hostname, Number(port))) return { url, missing: undefined };
  const missing = `no ${name} at ${hostname}:${port}: start one, or name another with ${variable}`;
  // On a machine that is to tell whether all is well, a test that did not run is no good news.
  if (process.env["CI"]) throw new Error(missing);
  return { url, missing: `skipped: ${missing}` };
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 });
    const end = (there: boolean) => {
      socket.destroy();
      resolve(there);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

export const postgresServer = await testServer(
  "PostgreSQL",
  "TEST_POSTGRES_URL",
  "postgres://postgres@127.0.0.1:5432/test",
);
export const redisServer = await testServer("Redis", "TEST_REDIS_URL", "redis://127.0.0.1:6379");
