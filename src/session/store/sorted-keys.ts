import type { KeyRange } from "./batched-store.ts";

/** Keys in code-unit order, for a store that can't list them so itself. */
export class SortedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...new Set(keys)].sort();
  }

  add(key: string): void {
    const at = this.#firstFrom(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  delete(key: string): void {
    const at = this.#firstFrom(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  list({ from, after, end, limit }: KeyRange): string[] {
    // The least string above `after`.
    const begin = Math.max(this.#firstFrom(from), this.#firstFrom(`${after}\0`));
    return this.#keys.slice(begin, Math.max(begin, Math.min(begin + limit, this.#firstFrom(end))));
  }

  /** Where the first key stands that is not below `key`. */
  #firstFrom(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
