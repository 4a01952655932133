import { readFile } from "node:fs/promises";
import { createClient } from "@keyv/redis";
import { Pool } from "pg";
import type { StorePlace } from "./store-contract.ts";
import type { ServerPlace } from "./store-places.ts";
import { postgresServer, redisServer } from "./test-servers.ts";

/**
 * All that a place holds, asked of the files or the server themselves and not of our store: a SQLite file's bytes with
 * those of its log, every row of PostgreSQL, every key of Redis with what is in it.
 */
export async function rawBytes(kind: string, place: StorePlace): Promise<string> {
  if ("path" in place) return fileBytes(place.path as string);
  if (kind === "PostgreSQL") return postgresRows((place as ServerPlace).namespace);
  if (kind === "Redis") return redisKeys((place as ServerPlace).namespace);
  return "";
}

async function fileBytes(path: string): Promise<string> {
  const files = ["", "-wal", "-shm", "-journal"].map((suffix) => readFile(`${path}${suffix}`, "latin1"));
  return (await Promise.allSettled(files)).map((read) => (read.status === "fulfilled" ? read.value : "")).join("\n");
}

async function postgresRows(namespace: string): Promise<string> {
  const pool = new Pool({ connectionString: postgresServer.url });
  const { rows } = await pool
    .query("SELECT * FROM public.keyv WHERE key LIKE $1", [`${namespace}%`])
    .finally(() => pool.end());
  return JSON.stringify(rows);
}

async function redisKeys(namespace: string): Promise<string> {
  const client = createClient({ url: redisServer.url });
  await client.connect();
  try {
    const found: string[] = [];
    for await (const keys of client.scanIterator({ MATCH: `*${namespace}*`, COUNT: 1000 })) {
      for (const key of keys) {
        const type = await client.type(key);
        const value = type === "string" ? await client.get(key) : await client.sendCommand(["ZRANGE", key, "0", "-1"]);
        found.push(`${key} ${type} ${value}`);
      }
    }
    return found.join("\n");
  } finally {
    client.destroy();
  }
}
