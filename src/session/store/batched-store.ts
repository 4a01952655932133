import { hasCode, ThreadkeeperError } from "../../errors.ts";
import { Lanes } from "../../lanes.ts";
import { Batches } from "./batches.ts";
import { checkCommit } from "./check-commit.ts";
import { chooseCommits } from "./choose-commits.ts";
import type { Commit, Committed, Store, Stored } from "./store.ts";

/** Part of a listing: keys from `from` on, behind `after`, below `end`, in code-unit order. */
export interface KeyRange {
  readonly from: string;
  readonly after: string;
  readonly end: string;
  readonly limit: number;
}

/** What a database has to do for a `BatchedStore`. Failures are a `ThreadkeeperError`. */
export interface Database {
  readonly description: string;
  /** What there is of these keys, all as of one moment; a key may stand there twice. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Stored>>;
  /** Commits that have no key in common, each all or nothing and durable; one result each, in order. */
  write(commits: readonly Commit[]): Promise<readonly (Committed | undefined)[]>;
  /** Whether a commit can't share a `write` with others. */
  mustBeAlone?(commit: Commit): boolean;
  list(range: KeyRange): Promise<string[]>;
  end(): Promise<void>;
}

const maxReads = 64;

/**
 * A store over a database to which one statement costs much the same for one session as for many: one write and one
 * read in flight, and what waits meanwhile shares the next one.
 */
export class BatchedStore implements Store {
  readonly #database: Database;
  readonly #commits: Batches<Commit, Committed | undefined>;
  readonly #reads: Batches<{ readonly keys: readonly string[] }, (Stored | undefined)[]>;
  readonly #lists = new Lanes();
  #closing: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#commits = new Batches({
      choose: (waiting) => {
        const alone = (commit: Commit) => database.mustBeAlone?.(commit) ?? false;
        return waiting.slice(0, 1).some(alone)
          ? waiting.slice(0, 1)
          : chooseCommits(waiting.filter((commit) => !alone(commit)));
      },
      run: (commits) => database.write(commits),
      // A value that cannot be stored is its own commit's fault; a store that cannot write is everybody's.
      mayBeOneJobs: (error) => hasCode(error, "UNEXPECTED"),
    });
    this.#reads = new Batches({
      choose: (waiting) => waiting.slice(0, maxReads),
      run: async (reads) => {
        const found = await database.read(reads.flatMap(({ keys }) => keys));
        return reads.map(({ keys }) => keys.map((key) => found.get(key)));
      },
      // A damaged page is the trouble of those who want it; what else fails is everybody's, and nobody should wait twice.
      mayBeOneJobs: (error) => hasCode(error, "STORE_CORRUPT", "STORE_FULL", "UNEXPECTED"),
    });
  }

  get description(): string {
    return this.#database.description;
  }

  async get(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    this.#checkOpen();
    return keys.length === 0 ? [] : this.#reads.add({ keys });
  }

  async commit(change: Commit): Promise<Committed | undefined> {
    this.#checkOpen();
    checkCommit(change);
    return this.#commits.add(change);
  }

  async keys(prefix: string, { after = "", limit = 1000 } = {}): Promise<string[]> {
    this.#checkOpen();
    // No key has a character as high as the one that ends the range.
    return this.#lists.run("", () => this.#database.list({ from: prefix, after, end: `${prefix}\x7f`, limit }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#commits.idle();
    await this.#reads.idle();
    await this.#lists.idle();
    await this.#database.end();
  }

  #checkOpen(): void {
    if (this.#closing) throw new ThreadkeeperError("STORE_CLOSED", `${this.description} is closed`);
  }
}
