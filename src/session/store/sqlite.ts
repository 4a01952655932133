import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import { hasCode, ThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { Lanes } from "../lanes.ts";
import { randomId } from "../random-id.ts";
import { Batches } from "./batches.ts";
import { checkCommit } from "./check-commit.ts";
import { chooseCommits } from "./choose-commits.ts";
import { commitStatement, type GuardedRows, removalTriggers } from "./commit-statement.ts";
import { keyvText } from "./keyv-text.ts";
import { sqliteError } from "./sqlite-error.ts";
import { prepareFile } from "./sqlite-file.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";

export interface SqliteOptions {
  readonly log?: Logger;
  /** How long a statement waits for another process's lock before it is `STORE_BUSY`, in milliseconds. Default 5000. */
  readonly busyTimeout?: number;
}

/** What Keyv puts before a key; its own default, so that a plain Keyv on the file finds the same. */
const namespace = "keyv";
const physical = (key: string): string => `${namespace}:${key}`;

const getSql = "SELECT key, value FROM keyv WHERE key IN (SELECT value FROM json_each(?))";
const keysSql = "SELECT key FROM keyv WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?";

type Row = Record<string, unknown>;
interface Read {
  readonly keys: readonly string[];
}

const maxReads = 64;

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
  readonly #commits = new Batches<Commit, Committed | undefined>({
    choose: chooseCommits,
    run: (changes) => this.#write(changes),
    // A value that cannot be stored is its own commit's fault; a store that cannot write is everybody's.
    mayBeOneJobs: (error) => hasCode(error, "UNEXPECTED"),
  });
  // A connection does one thing at a time: reads that queued in the driver would only fill the thread pool that the
  // whole process shares.
  readonly #reads = new Batches<Read, (Stored | undefined)[]>({
    choose: (waiting) => waiting.slice(0, maxReads),
    run: (reads) => this.#readAll(reads),
    // A damaged page is the trouble of those who want it; a lock is everybody's, and nobody should wait twice.
    mayBeOneJobs: (error) => !hasCode(error, "STORE_BUSY", "STORE_CLOSED"),
  });
  readonly #lists = new Lanes();
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
      for (const sql of removalTriggers) await this.#query(sql);
      await this.#probe();
    } catch (error) {
      await this.#adapter.disconnect().catch(() => undefined);
      throw error;
    }
  }

  async get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    this.#checkOpen();
    return this.#reads.add({ keys });
  }

  async commit(change: Commit): Promise<Committed | undefined> {
    this.#checkOpen();
    checkCommit(change);
    return this.#commits.add(change);
  }

  async keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    this.#checkOpen();
    // No key has a character as high as the one that ends the range.
    const range = [physical(prefix), physical(after), `${physical(prefix)}\x7f`, limit];
    const rows = await this.#lists.run("", () => this.#query(keysSql, ...range));
    return rows.map((row) => (row["key"] as string).slice(namespace.length + 1));
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#commits.idle();
    await this.#reads.idle();
    await this.#lists.idle();
    if (this.#checkpointDue !== undefined) await this.#checkpoint();
    await this.#adapter.disconnect();
  }

  async #write(changes: readonly Commit[]): Promise<(Committed | undefined)[]> {
    const commits = changes.map(guardedRows);
    const { sql, parameters } = commitStatement(commits);
    const written = new Set((await this.#query(sql, ...parameters)).map((row) => row["key"]));
    const won = commits.map(({ rows }) => rows.some(([key]) => written.has(key)));
    const forgotten = changes.some(({ forget }, index) => forget && won[index]);
    if (forgotten || (this.#checkpointDue ?? Infinity) <= Date.now()) await this.#checkpoint();
    return commits.map(({ key, was, rows }, index) => {
      if (!won[index]) return undefined;
      const guard = rows.find(([each]) => each === key);
      return { version: guard ? (guard[1] ?? undefined) : was };
    });
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

  /** Whether what is written comes back, to Keyv and to us, so that no failure waits for the first turn. */
  async #probe(): Promise<void> {
    const key = `probe/${randomId()}`;
    let seen: string | undefined;
    try {
      await this.#keyv.set(key, key);
      seen = await this.#keyv.get(key);
    } catch (error) {
      throw sqliteError(error, this.description);
    }
    const [stored] = await this.get([key]);
    const gone = await this.#commits.add({ key, was: stored?.version, put: new Map(), remove: [key] });
    if (seen !== key || stored?.value !== key || !gone)
      throw this.#unusable("does not give back what was written to it");
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

  async #query(sql: string, ...parameters: unknown[]): Promise<Row[]> {
    try {
      return (await this.#adapter.query(sql, ...parameters)) as Row[];
    } catch (error) {
      throw sqliteError(error, this.description);
    }
  }

  async #readAll(reads: readonly Read[]): Promise<(Stored | undefined)[][]> {
    const asked = reads.map(({ keys }) => keys.map(physical));
    const found = new Map<string, Stored>();
    for (const row of await this.#query(getSql, JSON.stringify(asked.flat()))) {
      found.set(row["key"] as string, stored(row["value"]));
    }
    return asked.map((keys) => keys.map((key) => found.get(key)));
  }

  #unusable(why: string): ThreadkeeperError {
    return new ThreadkeeperError("STORE_UNAVAILABLE", `${this.description} ${why}`);
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", `${this.description} is closed`);
  }
}

/** Other programs may have put anything there, NULL and blobs too: as a version each is as good as a text. */
function stored(cell: unknown): Stored {
  const version = cell as string;
  try {
    return { value: keyvText.deserialize(version).value, version };
  } catch {
    return { value: undefined, version };
  }
}

function guardedRows({ key, was, put, remove = [] }: Commit): GuardedRows {
  const written = Array.from(put, ([each, value]) => [physical(each), keyvText.serialize({ value })] as const);
  const removed = remove.map((each) => [physical(each), null] as const);
  return { key: physical(key), was, rows: [...written, ...removed] };
}
