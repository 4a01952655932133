import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type RedisClientType } from "@keyv/redis";
import { KeyvSqlite } from "@keyv/sqlite";
import { Pool } from "pg";
import { randomId } from "../../src/session/random-id.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openPostgresStore } from "../../src/session/store/postgres.ts";
import { openRedisStore } from "../../src/session/store/redis.ts";
import { openSqliteStore } from "../../src/session/store/sqlite.ts";
import type { StorePlace } from "./store-contract.ts";
import { postgresServer, redisServer } from "./test-servers.ts";

/** A namespace of its own on a server that others use too. */
export type ServerPlace = StorePlace & { readonly setting: string; readonly namespace: string };

export async function memoryPlace(): Promise<StorePlace> {
  const map = new Map<string, string>();
  return {
    open: async () => openMemoryStore(map),
    spoil: async (key) => void map.set(`keyv:${key}`, "garbage"),
    remove: async () => map.clear(),
  };
}

export async function sqlitePlace(): Promise<StorePlace & { readonly path: string; readonly setting: string }> {
  const directory = await mkdtemp(join(tmpdir(), "threadkeeper-store-"));
  const path = join(directory, "sessions.sqlite");
  return {
    path,
    setting: `sqlite:${path}`,
    open: () => openSqliteStore(path),
    spoil: async (key) => {
      const other = new KeyvSqlite({ uri: `sqlite://${path}`, busyTimeout: 5000 });
      await other.query("UPDATE keyv SET value = 'garbage' WHERE key = ?", `keyv:${key}`);
      await other.disconnect();
    },
    remove: () => rm(directory, { recursive: true }),
  };
}

export async function postgresPlace(): Promise<ServerPlace> {
  const namespace = `t${randomId()}`;
  const url = `${postgresServer.url}?namespace=${namespace}`;
  const query = async (sql: string, values: unknown[]) => {
    const pool = new Pool({ connectionString: postgresServer.url });
    await pool.query(sql, values).finally(() => pool.end());
  };
  return {
    setting: url,
    namespace,
    open: () => openPostgresStore(url),
    spoil: (key) => query("UPDATE public.keyv SET value = 'garbage' WHERE key = $1", [`${namespace}:${key}`]),
    remove: () => query("DELETE FROM public.keyv WHERE starts_with(key, $1)", [`${namespace}:`]),
  };
}

export async function redisPlace(): Promise<ServerPlace> {
  const namespace = `t${randomId()}`;
  const url = `${redisServer.url}?namespace=${namespace}`;
  const ask = async (job: (client: RedisClientType) => Promise<unknown>) => {
    const client = createClient({ url: redisServer.url }) as RedisClientType;
    await client.connect();
    await job(client).finally(() => client.close());
  };
  return {
    setting: url,
    namespace,
    open: () => openRedisStore(url),
    spoil: (key) => ask((client) => client.set(`${namespace}::${namespace}:${key}`, "garbage")),
    remove: () =>
      ask(async (client) => {
        const keys: string[] = [];
        for await (const found of client.scanIterator({ MATCH: `${namespace}:*`, COUNT: 1000 })) keys.push(...found);
        if (keys.length > 0) await client.del(keys);
      }),
  };
}

/** For suites that hold on every kind of store. */
export const everyPlace = [
  { kind: "memory", makePlace: memoryPlace },
  { kind: "SQLite", makePlace: sqlitePlace },
  ...(postgresServer.missing ? [] : [{ kind: "PostgreSQL", makePlace: postgresPlace }]),
  ...(redisServer.missing ? [] : [{ kind: "Redis", makePlace: redisPlace }]),
] as const;
