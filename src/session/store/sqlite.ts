import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KeyvSqlite } from "@keyv/sqlite";
import { hasCode, ThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { BatchedStore, type Database, type KeyRange } from "./batched-store.ts";
import { changedView, commitAll, commitSome, type GuardedRows, isBrokenGuard } from "./commit-statement.ts";
import { defaultNamespace, keyvOf } from "./keyv-of.ts";
import { keyvText, storedText } from "./keyv-text.ts";
import { probe } from "./probe.ts";
import { sqliteError } from "./sqlite-error.ts";
import { prepareFile } from "./sqlite-file.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";

export interface SqliteOptions {
  readonly log?: Logger;
  /** How long a statement waits for another process's lock before it is `STORE_BUSY`, in milliseconds. Default 5000. */
  readonly busyTimeout?: number;
  /** The file must be there, and nothing of it is changed: not its mode, not its journal. Default `false`. */
  readonly readOnly?: boolean;
}

const physical = (key: string): string => `${defaultNamespace}:${key}`;
const logical = (key: string): string => key.slice(defaultNamespace.length + 1);

const getSql = "SELECT key, value FROM keyv WHERE key IN";
/** Of more keys one JSON text is faster than a parameter each. */
const maxKeyParameters = 8;
const keysSql = "SELECT key FROM keyv WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?";

type Row = Record<string, unknown>;

/**
 * Opens the SQLite file at `path`, which is made if it is absent.
 * @throws ThreadkeeperError `STORE_UNAVAILABLE`, `STORE_BUSY`, `STORE_CORRUPT`, `STORE_FULL`
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { log = silentLogger, busyTimeout = 5000, readOnly = false } = options;
  const file = resolve(path);
  const description = `SQLite file ${file}`;
  const use = await prepareFile(file, description, { log, readOnly });
  return new SqliteDatabase(file, description, busyTimeout, log, () => use.end()).open(readOnly);
}

class SqliteDatabase implements Database {
  readonly description: string;
  readonly #log: Logger;
  readonly #busyTimeout: number;
  readonly #adapter: KeyvSqlite;
  readonly #endUse: () => void;
  /** Something forgotten is still in the log, because another process was reading it: when to try again. */
  #checkpointDue: number | undefined;

  constructor(file: string, description: string, busyTimeout: number, log: Logger, endUse: () => void) {
    this.#endUse = endUse;
    this.description = description;
    this.#busyTimeout = busyTimeout;
    this.#log = log;
    this.#adapter = new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout });
  }

  async open(readOnly: boolean): Promise<Store> {
    const store = new BatchedStore(this);
    try {
      const keyv = keyvOf(this.#adapter, { log: this.#log });
      await this.#set("busy_timeout", this.#busyTimeout, this.#busyTimeout);
      if (readOnly) {
        await this.#set("query_only", "ON", 1);
        return store;
      }
      await this.#set("journal_mode", "WAL", "wal");
      await this.#set("synchronous", "FULL", 2);
      await this.#set("secure_delete", "ON", 1);
      await this.#set("temp_store", "MEMORY", 2);
      for (const sql of changedView) await this.#query(sql);
      await this.#set("cache_size", -16_000, -16_000);
      await probe(keyv, store, (error) => sqliteError(error, this.description));
      return store;
    } catch (error) {
      await this.#adapter.disconnect().catch(() => undefined);
      this.#endUse();
      throw error;
    }
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const all = keys.map(physical);
    const rows =
      all.length > maxKeyParameters
        ? await this.#query(`${getSql} (SELECT value FROM json_each(?))`, JSON.stringify(all))
        : await this.#query(`${getSql} (${all.map(() => "?").join(",")})`, ...all);
    return new Map(rows.map((row) => [logical(row["key"] as string), storedText(row["value"])]));
  }

  async list({ from, after, end, limit }: KeyRange): Promise<string[]> {
    const rows = await this.#query(keysSql, physical(from), physical(after), physical(end), limit);
    return rows.map((row) => logical(row["key"] as string));
  }

  async end(): Promise<void> {
    if (this.#checkpointDue !== undefined) await this.#checkpoint();
    await this.#adapter.disconnect();
    this.#endUse();
  }

  async write(changes: readonly Commit[]): Promise<(Committed | undefined)[]> {
    const commits = changes.map(guardedRows);
    const won = await this.#commit(commits);
    const forgotten = changes.some(({ forget }, index) => forget && won[index]);
    if (forgotten || (this.#checkpointDue ?? Infinity) <= Date.now()) await this.#checkpoint();
    return commits.map(({ key, was, rows }, index) => {
      if (!won[index]) return undefined;
      const guard = rows.find(([each]) => each === key);
      return { version: guard ? (guard[1] ?? undefined) : was };
    });
  }

  /** Which of them were made: nearly always all, since only another process can be faster. */
  async #commit(commits: readonly GuardedRows[]): Promise<boolean[]> {
    const all = commitAll(commits);
    try {
      await this.#adapter.query(all.sql, ...all.parameters);
      return commits.map(() => true);
    } catch (error) {
      if (!isBrokenGuard(error)) throw sqliteError(error, this.description);
    }
    const some = commitSome(commits);
    const written = new Set((await this.#query(some.sql, ...some.parameters)).map((row) => row["key"]));
    return commits.map(({ rows }) => rows.some(([key]) => written.has(key)));
  }

  /**
   * Empties the log, which still holds what was removed. Writers must not wait for a slow reader of another process,
   * so that it is tried again later. Never fails: what was committed is committed.
   */
  async #checkpoint(): Promise<void> {
    this.#checkpointDue = Date.now() + 1000;
    try {
      await this.#query("PRAGMA busy_timeout=100");
      const checkpoint = this.#query("PRAGMA wal_checkpoint(TRUNCATE)");
      const [result] = await checkpoint.finally(() => this.#query(`PRAGMA busy_timeout=${this.#busyTimeout}`));
      if (result?.["busy"] === 0) this.#checkpointDue = undefined;
    } catch (error) {
      this.#log.warn({ err: error }, "what was forgotten may still be in the log of the SQLite file; trying again");
    }
  }

  async #set(setting: string, value: string | number, expected: string | number): Promise<void> {
    const deadline = Date.now() + this.#busyTimeout;
    for (;;) {
      try {
        await this.#query(`PRAGMA ${setting}=${value}`);
        break;
      } catch (error) {
        // The change to WAL does not wait for locks by itself.
        if (!hasCode(error, "STORE_BUSY") || Date.now() > deadline) throw error;
        await pause(20);
      }
    }
    const [row] = await this.#query(`PRAGMA ${setting}`);
    const actual = Object.values(row ?? {})[0];
    if (actual !== expected) {
      const why = `does not take ${setting}=${value} (it stays ${actual})`;
      throw new ThreadkeeperError("STORE_UNAVAILABLE", `${this.description} ${why}`);
    }
  }

  async #query(sql: string, ...parameters: unknown[]): Promise<Row[]> {
    try {
      return (await this.#adapter.query(sql, ...parameters)) as Row[];
    } catch (error) {
      throw sqliteError(error, this.description);
    }
  }
}

function guardedRows({ key, was, put, remove = [] }: Commit): GuardedRows {
  const rows: [string, string | null][] = [];
  for (const [each, value] of put) rows.push([physical(each), keyvText.serialize({ value })]);
  for (const each of remove) rows.push([physical(each), null]);
  return { key: physical(key), was, rows };
}
