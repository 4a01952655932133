import { setTimeout as pause } from "node:timers/promises";
import { KeyvPostgres } from "@keyv/postgres";
import { Pool, type PoolClient } from "pg";
import { hasCode } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { BatchedStore, type Database, type KeyRange } from "./batched-store.ts";
import type { GuardedRows } from "./commit-statement.ts";
import { keyvOf } from "./keyv-of.ts";
import { keyvText, storedText } from "./keyv-text.ts";
import { commitSql, commitValues } from "./postgres-statement.ts";
import { probe } from "./probe.ts";
import { type ServerAddress, serverAddress } from "./server-address.ts";
import { noTable, serverError } from "./server-error.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";
import { weakPostgresSettings } from "./weak-settings.ts";

export interface ServerOptions {
  readonly log?: Logger;
  /** How long anything that is asked of the server may take before it is `STORE_UNAVAILABLE`, in milliseconds. Default 10,000. */
  readonly timeout?: number;
  /** The store must be there, and nothing of it is changed. Default `false`. */
  readonly readOnly?: boolean;
}

/** Keyv's own table, but for the order of its keys, which is that of their characters whatever the database's language. */
const tableSql = 'CREATE TABLE IF NOT EXISTS public.keyv (key VARCHAR(255) COLLATE "C" PRIMARY KEY, value TEXT)';
/** A table that Keyv made sorts as the database does: then an index of our own has the order that we need. */
const orderSql = 'CREATE INDEX IF NOT EXISTS keyv_key_order ON public.keyv (key COLLATE "C")';
const collationSql = `SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
  WHERE attrelid = 'public.keyv'::regclass AND attname = 'key'`;
const settingsSql = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('full_page_writes') AS full_page_writes,
  (SELECT relpersistence FROM pg_class WHERE oid = 'public.keyv'::regclass) AS persistence`;
const isThereSql = "SELECT to_regclass('public.keyv') IS NOT NULL AS there";
const getSql = "SELECT key, value FROM public.keyv WHERE key = ANY($1)";
const keysSql = `SELECT key FROM public.keyv
  WHERE key COLLATE "C" >= $1 AND key COLLATE "C" > $2 AND key COLLATE "C" < $3 ORDER BY key COLLATE "C" LIMIT $4`;

/** A write, a read and a listing at a time, and one for commits that need a transaction of their own. */
const connections = 4;
const maxTries = 6;

type Row = Record<string, unknown>;
type Query = (sql: string, values?: unknown[]) => Promise<Row[]>;

/**
 * The adapter keeps one pool for the whole module: another address replaces it, `disconnect` of one ends it for all, and
 * the failure of an idle connection, to which nobody listens, would end the process. So each store brings its own.
 */
class KeyvOnPool extends KeyvPostgres {
  constructor(pool: Pool) {
    super({ pool } as ConstructorParameters<typeof KeyvPostgres>[0] & { pool: Pool });
  }

  override async connect(): Promise<Query> {
    const { pool } = this.opts as unknown as { pool: Pool };
    return async (sql, values) => (await pool.query<Row>(sql, values)).rows;
  }
}

/**
 * Opens the store in a PostgreSQL database; makes Keyv's table in the schema `public` if it is absent.
 * @param setting `postgres://user:password@host:port/database`, with `?namespace=` if it is shared
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`, `STORE_UNAVAILABLE`, `STORE_BUSY`
 */
export async function openPostgresStore(setting: string, options: ServerOptions = {}): Promise<Store> {
  const address = serverAddress(setting);
  const { timeout = 10_000, log = silentLogger, readOnly = false } = options;
  return new PostgresDatabase(address, timeout, log, readOnly).open();
}

class PostgresDatabase implements Database {
  readonly description: string;
  readonly #log: Logger;
  readonly #namespace: string;
  readonly #pool: Pool;
  readonly #readOnly: boolean;
  #query: Query;

  constructor({ uri, namespace, place }: ServerAddress, timeout: number, log: Logger, readOnly: boolean) {
    this.#readOnly = readOnly;
    this.description = `PostgreSQL at ${place}`;
    this.#namespace = namespace;
    this.#log = log;
    this.#pool = new Pool({
      connectionString: uri,
      max: connections,
      connectionTimeoutMillis: timeout,
      query_timeout: timeout,
      keepAlive: true,
    });
    this.#pool.on("error", (error: unknown) => {
      log.debug({ reason: serverError(error, this.description).message }, "an idle connection to PostgreSQL is gone");
    });
    this.#query = async (sql, values) => (await this.#pool.query<Row>(sql, values)).rows;
  }

  async open(): Promise<Store> {
    try {
      await (this.#readOnly ? this.#checkTable() : this.#makeTable());
      const [settings] = await this.#ask(settingsSql);
      for (const warning of weakPostgresSettings(settings)) this.#log.warn({ store: this.description }, warning);
      const store = new BatchedStore(this);
      // The adapter makes its table.
      if (this.#readOnly) return store;
      const adapter = new KeyvOnPool(this.#pool);
      this.#query = adapter.query;
      const keyv = keyvOf(adapter, { namespace: this.#namespace, log: this.#log });
      await probe(keyv, store, (error) => serverError(error, this.description));
      return store;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const rows = await this.#look(getSql, [keys.map((key) => this.#physical(key))]);
    // A version is compared as a text, so that NULL, which others may have written, needs one too.
    return new Map(rows.map((row) => [this.#logical(row["key"]), storedText(row["value"] ?? "")]));
  }

  async write(commits: readonly Commit[]): Promise<(Committed | undefined)[]> {
    const [only] = commits;
    if (only && this.mustBeAlone(only)) return [await this.#writeBehindPlaceholder(only)];
    const rows = commits
      .map((commit, id) => ({ id, rows: this.#guardedRows(commit) }))
      .sort((a, b) => (a.rows.key < b.rows.key ? -1 : 1));
    const won = await this.#repeat(() => this.#ask(commitSql, commitValues(rows.map((each) => each.rows))));
    const ids = new Set(won.map(({ id }) => rows[id as number]?.id));
    return commits.map((commit, id) => (ids.has(id) ? { version: versionAfter(commit) } : undefined));
  }

  mustBeAlone({ key, was, put }: Commit): boolean {
    return was === undefined && !put.has(key);
  }

  async list({ from, after, end, limit }: KeyRange): Promise<string[]> {
    const range = [this.#physical(from), this.#physical(after), this.#physical(end), limit];
    const rows = await this.#look(keysSql, range);
    return rows.map((row) => this.#logical(row["key"]));
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /**
   * A guard that must be absent and stays so cannot be locked: a placeholder, which nobody else ever sees, keeps its
   * place until the end of the transaction.
   */
  async #writeBehindPlaceholder(commit: Commit): Promise<Committed | undefined> {
    const { key, rows } = this.#guardedRows(commit);
    const behind = { key, was: "", rows: [...rows.filter(([each]) => each !== key), [key, null] as const] };
    const insert = "INSERT INTO public.keyv (key, value) VALUES ($1, '') ON CONFLICT DO NOTHING RETURNING key";
    return this.#repeat(() =>
      this.#transaction(async (client) => {
        if ((await client.query(insert, [key])).rows.length === 0) return undefined;
        await client.query(commitSql, commitValues([behind]));
        return { version: undefined };
      }),
    );
  }

  async #transaction<T>(job: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.#pool.connect();
      await client.query("BEGIN");
      const result = await job(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // Closing the connection undoes what it had begun.
      client?.release(true);
      throw serverError(error, this.description);
    }
  }

  /** Transactions that got in each other's way have written nothing, so that they can be made again. */
  async #repeat<T>(job: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await job();
      } catch (error) {
        if (!hasCode(error, "STORE_BUSY") || tries === maxTries) throw error;
        await pause(Math.random() * 20 * tries);
      }
    }
  }

  async #makeTable(): Promise<void> {
    for (const sql of [tableSql, collationSql]) {
      // Two that make it at once: one is told that it exists, in one of several ways.
      const [row] = await this.#ask(sql).catch(() => this.#ask(sql));
      if (row && row["collname"] !== "C") await this.#ask(orderSql).catch(() => this.#ask(orderSql));
    }
  }

  async #checkTable(): Promise<void> {
    const [row] = await this.#ask(isThereSql);
    if (!row?.["there"]) throw noTable(this.description);
  }

  /**
   * A connection that ended while it was idle may tell so only to whoever asks next; nobody minds if a read is asked
   * again, once for each that there may be.
   */
  async #look(sql: string, values: unknown[]): Promise<Row[]> {
    const began = Date.now();
    for (let tries = 1; ; tries++) {
      try {
        return await this.#ask(sql, values);
      } catch (error) {
        const isWorthIt = hasCode(error, "STORE_UNAVAILABLE") && Date.now() - began < 1000;
        if (!isWorthIt || tries > connections) throw error;
      }
    }
  }

  async #ask(sql: string, values?: unknown[]): Promise<Row[]> {
    try {
      return await this.#query(sql, values);
    } catch (error) {
      throw serverError(error, this.description);
    }
  }

  #guardedRows({ key, was, put, remove = [] }: Commit): GuardedRows {
    const written = Array.from(put, ([each, value]) => [this.#physical(each), keyvText.serialize({ value })] as const);
    const removed = remove.map((each) => [this.#physical(each), null] as const);
    return { key: this.#physical(key), was, rows: [...written, ...removed] };
  }

  #physical(key: string): string {
    return `${this.#namespace}:${key}`;
  }

  #logical(key: unknown): string {
    return (key as string).slice(this.#namespace.length + 1);
  }
}

function versionAfter({ key, was, put, remove = [] }: Commit): string | undefined {
  const value = put.get(key);
  if (value !== undefined) return keyvText.serialize({ value });
  return remove.includes(key) ? undefined : was;
}
