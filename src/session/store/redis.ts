import { setTimeout as pause } from "node:timers/promises";
import KeyvRedis, { type RedisClientOptions } from "@keyv/redis";
import { ThreadkeeperError } from "../../errors.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { checkCommit } from "./check-commit.ts";
import { keyvOf } from "./keyv-of.ts";
import { keyvText, storedText } from "./keyv-text.ts";
import type { ServerOptions } from "./postgres.ts";
import { probe } from "./probe.ts";
import { commitScript, listScript, type RedisScript, readScript } from "./redis-scripts.ts";
import { type ServerAddress, serverAddress } from "./server-address.ts";
import { serverError } from "./server-error.ts";
import { SortedKeys } from "./sorted-keys.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";
import { weakRedisSettings } from "./weak-settings.ts";

/** As much of the client as we use: it sends what waits together at once, and in order. */
interface Client {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  on(event: "ready", listener: () => void): unknown;
  close(): Promise<void>;
  destroy(): void;
}

/**
 * Opens the store in a Redis or Valkey server.
 * @param setting `redis://user:password@host:port/database`, or `rediss:` with TLS; with `?namespace=` if it is shared
 * @throws ThreadkeeperError `STORE_SETTING_INVALID`, `STORE_UNAVAILABLE`, `STORE_BUSY`
 */
export async function openRedisStore(setting: string, options: ServerOptions = {}): Promise<Store> {
  const address = serverAddress(setting.replace(/^valkey/, "redis"));
  const store = new RedisStore(address, options.timeout ?? 10_000, options.log ?? silentLogger);
  await store.open(options.readOnly ?? false);
  return store;
}

class RedisStore implements Store {
  readonly description: string;
  readonly #log: Logger;
  readonly #timeout: number;
  readonly #namespace: string;
  /** What the adapter and Keyv put before a key: both do. */
  readonly #prefix: string;
  /** A sorted set of all keys: Redis itself can only list them without an order, by going through all that it has. */
  readonly #list: string;
  readonly #adapter: KeyvRedis<string>;
  readonly #client: Client;
  readonly #pending = new Set<Promise<unknown>>();
  /** All keys as of the opening, for who may not make the list. */
  #found: SortedKeys | undefined;
  #opened = false;
  #closing: Promise<void> | undefined;

  constructor({ uri, namespace, place }: ServerAddress, timeout: number, log: Logger) {
    this.description = `Redis at ${place}`;
    this.#log = log;
    this.#timeout = timeout;
    this.#namespace = namespace;
    this.#prefix = `${namespace}::${namespace}:`;
    this.#list = `${namespace}:all-keys`;
    const options: RedisClientOptions = {
      url: uri,
      // Without a connection a command fails at once instead of waiting for one: a turn must not hang.
      disableOfflineQueue: true,
      // A server that says nothing for so long is as good as gone; a ping sees to it that a healthy one does not.
      pingInterval: timeout / 3,
      socket: {
        connectTimeout: timeout,
        socketTimeout: timeout,
        reconnectStrategy: (tries) => this.#opened && Math.min(100 * 2 ** tries, 2000),
      },
    };
    // The adapter swallows what fails before Keyv can throw it.
    this.#adapter = new KeyvRedis<string>(options, { throwOnErrors: true });
    this.#client = this.#adapter.client as unknown as Client;
    this.#watch();
  }

  async open(readOnly: boolean): Promise<void> {
    try {
      const keyv = keyvOf(this.#adapter, { namespace: this.#namespace, log: this.#log });
      await this.#client.connect().catch((error) => {
        throw serverError(error, this.description);
      });
      await this.#checkServer();
      if ((await this.#send(["ZSCORE", this.#list, ""])) === null) await this.#listAll(readOnly);
      if (!readOnly) await probe(keyv, this, (error) => serverError(error, this.description));
      this.#opened = true;
    } catch (error) {
      this.#destroy();
      throw error;
    }
  }

  async get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    this.#checkOpen();
    if (keys.length === 0) return [];
    const versions = (await this.#run(
      readScript,
      keys.map((key) => this.#prefix + key),
      [],
    )) as (string | null)[];
    return versions.map((version) => (version === null ? undefined : storedText(version)));
  }

  async commit(change: Commit): Promise<Committed | undefined> {
    this.#checkOpen();
    checkCommit(change);
    const { key, was, put, remove = [] } = change;
    const keys = [key, ...put.keys(), ...remove].map((each) => this.#prefix + each);
    const values = Array.from(put.values(), (value) => keyvText.serialize({ value }));
    const guard = was === undefined ? "0" : `1${was}`;
    const written = await this.#run(
      commitScript,
      [this.#list, ...keys],
      [this.#prefix, guard, `${put.size}`, ...values],
    );
    if (written !== 1) return undefined;
    const value = put.get(key);
    if (value !== undefined) return { version: keyvText.serialize({ value }) };
    return { version: remove.includes(key) ? undefined : was };
  }

  async keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    this.#checkOpen();
    // No key has a character as high as the one that ends the range.
    const end = `${prefix}\x7f`;
    if (this.#found) return this.#found.list({ from: prefix, after, end, limit });
    const from = after >= prefix ? `(${after}` : `[${prefix}`;
    const range = ["ZRANGEBYLEX", this.#list, from, `(${end}`, "LIMIT", "0", `${limit}`];
    return (await this.#send(range)) as string[];
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#pending);
    await Promise.race([this.#client.close().catch(() => undefined), pause(this.#timeout, undefined, { ref: false })]);
    this.#destroy();
  }

  #destroy(): void {
    try {
      this.#client.destroy();
    } catch {
      // It was closed already.
    }
  }

  /** Says once that the connection is lost, and once that it is back; the client tries again by itself. */
  #watch(): void {
    let lost = false;
    this.#adapter.on("error", (error: unknown) => {
      const { message } = serverError(error, this.description);
      if (this.#opened && !lost && !this.#client.isReady) this.#log.warn(`the connection is lost: ${message}`);
      else this.#log.debug({ reason: message }, "Redis reported an error");
      lost ||= this.#opened && !this.#client.isReady;
    });
    this.#client.on("ready", () => {
      if (lost) this.#log.info(`${this.description} is there again`);
      lost = false;
    });
  }

  async #checkServer(): Promise<void> {
    const info = String(await this.#send(["INFO"]));
    if (/^cluster_enabled:1/m.test(info)) {
      throw new ThreadkeeperError(
        "STORE_UNAVAILABLE",
        `${this.description} is a cluster, where keys that belong together can't be changed together: give the address of a single server`,
      );
    }
    for (const warning of weakRedisSettings(await this.#settings(info))) {
      this.#log.warn({ store: this.description }, warning);
    }
  }

  /** A hosted server often refuses CONFIG, but tells some of it as a fact. */
  async #settings(info: string): Promise<Record<string, string> | undefined> {
    try {
      const names = ["appendonly", "appendfsync", "maxmemory-policy"];
      const answers = await Promise.all(names.map((name) => this.#send(["CONFIG", "GET", name])));
      const found = (answers as string[][]).flatMap(([name, value]) => (name && value ? [[name, value] as const] : []));
      if (found.length > 0) return Object.fromEntries(found);
    } catch (error) {
      this.#log.debug({ reason: String(error) }, "Redis does not tell its settings");
    }
    const aof = /^aof_enabled:(\d)/m.exec(info)?.[1];
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (aof === undefined || policy === undefined) return undefined;
    return { appendonly: aof === "1" ? "yes" : "no", "maxmemory-policy": policy };
  }

  /**
   * Makes the list of keys where what there is was written by a plain Keyv, or came back without it. The empty name,
   * which is no key's, says that it is complete: a commit begins a list too, and who makes it may be killed on the way.
   */
  async #listAll(readOnly: boolean): Promise<void> {
    const keys: string[] = [];
    let cursor = "0";
    do {
      const scan = ["SCAN", cursor, "MATCH", `${this.#prefix}*`, "COUNT", "1000"];
      const [next, found] = (await this.#send(scan)) as [string, string[]];
      if (readOnly) keys.push(...found.map((key) => key.slice(this.#prefix.length)));
      else if (found.length > 0) await this.#run(listScript, [this.#list, ...found], [this.#prefix]);
      cursor = next;
    } while (cursor !== "0");
    if (readOnly) this.#found = new SortedKeys(keys);
    else await this.#send(["ZADD", this.#list, "0", ""]);
  }

  async #run({ text, digest }: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [`${keys.length}`, ...keys, ...args];
    try {
      return await this.#ask(["EVALSHA", digest, ...rest]);
    } catch (error) {
      if (!String(error).includes("NOSCRIPT")) throw serverError(error, this.description);
    }
    return this.#send(["EVAL", text, ...rest]);
  }

  async #send(command: readonly string[]): Promise<unknown> {
    try {
      return await this.#ask(command);
    } catch (error) {
      throw serverError(error, this.description);
    }
  }

  async #ask(command: readonly string[]): Promise<unknown> {
    const answer = this.#client.sendCommand(command);
    this.#pending.add(answer);
    try {
      return await answer;
    } finally {
      this.#pending.delete(answer);
    }
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", `${this.description} is closed`);
  }
}
