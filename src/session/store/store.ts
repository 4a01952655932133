/** A value and the opaque version that a later `commit` can hold it against. */
export interface Stored {
  /** `undefined`: there is a value, but it cannot be read. It can be replaced and removed like any other. */
  readonly value: string | undefined;
  readonly version: string;
}

/** One atomic change of the store, guarded by one key. */
export interface Commit {
  /** The guard: its stored version must still be `was` (`undefined`: the key must be absent). */
  readonly key: string;
  readonly was: string | undefined;
  /** Keys to write. May contain the guard, and should: that is what moves it. */
  readonly put: ReadonlyMap<string, string>;
  /** Keys to remove. May contain the guard, but none that is also put. */
  readonly remove?: readonly string[];
  /**
   * What this commit removes or overwrites must be found nowhere afterwards, not in the file's bytes either. Costs
   * a checkpoint, so it is for what people want forgotten, not for what is merely out of date.
   */
  readonly forget?: boolean;
}

/** A commit that was made. */
export interface Committed {
  /** The guard's version from now on, to hold the next commit against; `undefined`: the guard was removed. */
  readonly version: string | undefined;
}

/**
 * Where sessions are kept: three verbs over a Keyv adapter's own connection. Keys are printable ASCII, at most 240
 * characters; values are strings and come back the same. "Cannot read" is never "does not exist": one unreadable value
 * is a `Stored` without a value, so that nobody else's is held up by it, and every failure of the store throws a
 * `ThreadkeeperError` (`STORE_UNAVAILABLE`, `STORE_BUSY`, `STORE_CORRUPT`, `STORE_FULL`, `STORE_CLOSED`).
 */
export interface Store {
  /** What kind of store it is and where, for messages. Holds no password. */
  readonly description: string;
  /** One entry per key, in the order asked for, all as of one moment; `undefined`: absent. */
  get(keys: readonly string[]): Promise<(Stored | undefined)[]>;
  /** All or nothing. Resolves when it is durable; `undefined`: the guard had moved, and nothing was written. */
  commit(change: Commit): Promise<Committed | undefined>;
  /** Keys that begin with `prefix`, in code-unit order, those behind `after` only. At most `limit` (default 1000). */
  keys(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<string[]>;
  /** Resolves when what was begun is done; later calls throw `STORE_CLOSED`. Closing twice is no error. */
  close(): Promise<void>;
}
