import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeyvSqlite } from "@keyv/sqlite";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSqliteStore } from "../../src/session/store/sqlite.ts";
import type { StorePlace } from "./store-contract.ts";

export async function memoryPlace(): Promise<StorePlace> {
  const map = new Map<string, string>();
  return {
    open: async () => openMemoryStore(map),
    spoil: async (key) => void map.set(`keyv:${key}`, "garbage"),
    remove: async () => map.clear(),
  };
}

export async function sqlitePlace(): Promise<StorePlace & { readonly path: string }> {
  const directory = await mkdtemp(join(tmpdir(), "threadkeeper-store-"));
  const path = join(directory, "sessions.sqlite");
  return {
    path,
    open: () => openSqliteStore(path),
    spoil: async (key) => {
      const other = new KeyvSqlite({ uri: `sqlite://${path}`, busyTimeout: 5000 });
      await other.query("UPDATE keyv SET value = 'garbage' WHERE key = ?", `keyv:${key}`);
      await other.disconnect();
    },
    remove: () => rm(directory, { recursive: true }),
  };
}

/** For suites that hold on every kind of store. */
export const everyPlace = [
  { kind: "memory", makePlace: memoryPlace },
  { kind: "SQLite", makePlace: sqlitePlace },
] as const;
