/** A time in which nothing was heard on a connection. */
export interface Absence {
  /** A server is on one of the connections; direct conversations are on the first, 0. */
  readonly shard: number;
  /** Up to when everything was heard; absent: never anything. */
  readonly since: Date | undefined;
  /** The servers on this connection that the bot is in, be they out or not. */
  readonly guilds: readonly string[];
  /** Only this server was away, and nothing else of the connection. */
  readonly only?: string;
  /** The channels and threads that are left to look into; absent: all. */
  readonly channels?: readonly string[];
}

/** Keeps in mind when each connection was last heard of, so that what was missed is known when it begins anew. */
export class Absences {
  readonly #before: Date | undefined;
  readonly #heard = new Map<number, Date>();
  readonly #open = new Map<number, Absence>();
  /** Since when servers are out. */
  readonly #out = new Map<string, Date | undefined>();

  /** @param before when a process like this was last there */
  constructor(before: Date | undefined) {
    this.#before = before;
  }

  /** A connection brought something: up to now nothing is missing on it. */
  heard(shard: number): void {
    this.#heard.set(shard, new Date());
  }

  /** A connection begins anew, which could not be resumed. Told before it is `heard`. */
  began(shard: number, guilds: readonly string[]): void {
    // One that began anew twice, and was not looked after in between, is missing all since the first time.
    const since = this.#open.get(shard)?.since ?? this.#heard.get(shard) ?? this.#before;
    this.#open.set(shard, { shard, guilds, since });
  }

  /** A server is out, or was not there yet when its connection began. */
  isOut(guild: string, since: Date | undefined = new Date()): void {
    if (!this.#out.has(guild)) this.#out.set(guild, since);
  }

  /** A server is there again: what has to be looked after in it, once. */
  takeGuild(guild: string, shard: number): Absence | undefined {
    if (!this.#out.has(guild)) return undefined;
    const since = this.#out.get(guild);
    this.#out.delete(guild);
    return { shard, since, guilds: [], only: guild };
  }

  /** What has to be looked after now: once. */
  take(shard: number): Absence | undefined {
    const absence = this.#open.get(shard);
    this.#open.delete(shard);
    return absence;
  }
}
