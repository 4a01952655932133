import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import { hasCode, ThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { randomId } from "../random-id.ts";
import { checkCommit } from "./check-commit.ts";
import { GroupCommit } from "./group-commit.ts";
import { keyvText } from "./keyv-text.ts";
import { sqliteError } from "./sqlite-error.ts";
import { prepareFile } from "./sqlite-file.ts";
import type { Commit, Store, Stored } from "./store.ts";

export interface SqliteOptions {
  readonly log?: Logger;
  /** How long a statement waits for another process's lock before it is `STORE_BUSY`, in milliseconds. Default 5000. */
  readonly busyTimeout?: number;
}

/** What Keyv puts before a key; its own default, so that a plain Keyv on the file finds the same. */
const namespace = "keyv";
const physical = (key: string): string => `${namespace}:${key}`;

/**
 * Rows of all jobs whose guard still holds, inserted or replaced. An empty text cannot be a value (see `keyvText`): it
 * means that the row goes, and the triggers see to that within the same statement, which is one transaction.
 */
const commitSql = `
INSERT INTO keyv (key, value)
SELECT put.key, coalesce(put.value, '')
FROM json_each(?) AS job
LEFT JOIN keyv AS guard ON guard.key = job.value ->> 'key'
JOIN json_each(job.value, '$.put') AS put
WHERE guard.value IS job.value ->> 'was'
ON CONFLICT (key) DO UPDATE SET value = excluded.value
RETURNING key`;

/** Temporary: they belong to this connection and leave the file's schema to Keyv. */
const triggerSql = ["INSERT", "UPDATE"].map(
  (change) => `
CREATE TEMP TRIGGER remove_after_${change.toLowerCase()} AFTER ${change} ON main.keyv WHEN NEW.value = ''
BEGIN DELETE FROM keyv WHERE key = NEW.key; END`,
);

const getSql = "SELECT key, value FROM keyv WHERE key IN (SELECT value FROM json_each(?))";
const keysSql = "SELECT key FROM keyv WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?";

type Row = Record<string, unknown>;

/**
 * Opens the SQLite file at `path`, which is made if it is absent.
 * @throws ThreadkeeperError `STORE_UNAVAILABLE`, `STORE_BUSY`, `STORE_CORRUPT`, `STORE_FULL`
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { log = silentLogger, busyTimeout = 5000 } = options;
  const file = resolve(path);
  const description = `SQLite file ${file}`;
  await prepareFile(file, description, log);
  const store = new SqliteStore(file, description, busyTimeout, log);
  await store.open();
  return store;
}

class SqliteStore implements Store {
  readonly description: string;
  readonly #log: Logger;
  readonly #busyTimeout: number;
  readonly #adapter: KeyvSqlite;
  readonly #keyv: Keyv<string>;
  readonly #commits = new GroupCommit((changes) => this.#write(changes));
  readonly #reads = new Set<Promise<unknown>>();
  /** Something forgotten is still in the log, because another process was reading it: when to try again. */
  #checkpointDue: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(file: string, description: string, busyTimeout: number, log: Logger) {
    this.description = description;
    this.#busyTimeout = busyTimeout;
    this.#log = log;
    this.#adapter = new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout });
    this.#keyv = new Keyv<string>({
      store: this.#adapter,
      namespace,
      throwOnErrors: true,
      serialize: (data) => keyvText.serialize(data as { value: string }),
      deserialize: (text) => keyvText.deserialize(text) as never,
    });
    // What fails is thrown too; but an "error" event that nobody listens to would end the process.
    this.#keyv.on("error", (error: unknown) => log.debug({ err: error }, "Keyv reported an error"));
  }

  async open(): Promise<void> {
    try {
      await this.#set("busy_timeout", this.#busyTimeout, this.#busyTimeout);
      await this.#set("journal_mode", "WAL", "wal");
      await this.#set("synchronous", "FULL", 2);
      await this.#set("secure_delete", "ON", 1);
      await this.#set("temp_store", "MEMORY", 2);
      for (const sql of triggerSql) await this.#query(sql);
      await this.#probe();
    } catch (error) {
      await this.#adapter.disconnect().catch(() => undefined);
      throw error;
    }
  }

  async get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    const rows = await this.#read(getSql, JSON.stringify(keys.map(physical)));
    const found = new Map(rows.map((row) => [row["key"], row["value"]]));
    return keys.map((key) => (found.has(physical(key)) ? this.#stored(key, found.get(physical(key))) : undefined));
  }

  async commit(change: Commit): Promise<boolean> {
    this.#checkOpen();
    checkCommit(change);
    return this.#commits.add(change);
  }

  async keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    // No key has a character as high as the one that ends the range.
    const rows = await this.#read(keysSql, physical(prefix), physical(after), `${physical(prefix)}\x7f`, limit);
    return rows.map((row) => (row["key"] as string).slice(namespace.length + 1));
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#commits.idle();
    await Promise.allSettled(this.#reads);
    if (this.#checkpointDue !== undefined) await this.#checkpoint();
    await this.#adapter.disconnect();
  }

  async #write(changes: readonly Commit[]): Promise<boolean[]> {
    const jobs = changes.map(({ key, was, put, remove = [] }) => {
      const rows = Array.from(put, ([each, value]) => [physical(each), keyvText.serialize({ value })]);
      const gone = remove.map((each) => [physical(each), null]);
      return { key: physical(key), was: was ?? null, put: Object.fromEntries([...rows, ...gone]) };
    });
    const written = new Set((await this.#query(commitSql, JSON.stringify(jobs))).map((row) => row["key"]));
    const won = jobs.map(({ put }) => Object.keys(put).some((key) => written.has(key)));
    const forgotten = changes.some(({ forget }, index) => forget && won[index]);
    if (forgotten || (this.#checkpointDue ?? Infinity) <= Date.now()) await this.#checkpoint();
    return won;
  }

  /** Empties the log, which still holds what was removed. */
  async #checkpoint(): Promise<void> {
    let emptied = false;
    try {
      // Writers must not wait for a slow reader of another process: it is tried again a second later.
      await this.#query("PRAGMA busy_timeout=100");
      emptied = (await this.#query("PRAGMA wal_checkpoint(TRUNCATE)"))[0]?.["busy"] === 0;
    } catch (error) {
      this.#log.warn({ err: error }, "what was forgotten is still in the log of the SQLite file; trying again");
    }
    this.#checkpointDue = emptied ? undefined : Date.now() + 1000;
    await this.#query(`PRAGMA busy_timeout=${this.#busyTimeout}`);
  }

  /** Whether what is written comes back, by Keyv's hand and by ours, so that no failure waits for the first turn. */
  async #probe(): Promise<void> {
    const key = `probe/${randomId()}`;
    try {
      await this.#keyv.set(key, key);
    } catch (error) {
      throw sqliteError(error, this.description);
    }
    const [stored] = await this.get([key]);
    const gone = await this.#commits.add({ key, was: stored?.version, put: new Map(), remove: [key] });
    if (stored?.value !== key || !gone) throw this.#unusable("does not give back what was written to it");
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
    if (actual !== expected) throw this.#unusable(`does not take ${setting}=${value} (it stays ${actual})`);
  }

  #read(sql: string, ...parameters: unknown[]): Promise<Row[]> {
    this.#checkOpen();
    const read = this.#query(sql, ...parameters);
    this.#reads.add(read);
    const leave = () => this.#reads.delete(read);
    read.then(leave, leave);
    return read;
  }

  async #query(sql: string, ...parameters: unknown[]): Promise<Row[]> {
    try {
      return (await this.#adapter.query(sql, ...parameters)) as Row[];
    } catch (error) {
      throw sqliteError(error, this.description);
    }
  }

  #stored(key: string, text: unknown): Stored {
    try {
      return { value: keyvText.deserialize(text as string).value, version: text as string };
    } catch (cause) {
      throw new ThreadkeeperError("STORE_CORRUPT", `the value of ${key} in ${this.description} cannot be read`, {
        fields: { key },
        cause,
      });
    }
  }

  #unusable(why: string): ThreadkeeperError {
    return new ThreadkeeperError("STORE_UNAVAILABLE", `${this.description} ${why}`);
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", `${this.description} is closed`);
  }
}
