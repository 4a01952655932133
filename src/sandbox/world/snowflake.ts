/** Discord's first second; ids hold the milliseconds since then. */
const epoch = 1_420_070_400_000n;

/** Makes ids that only ever grow, as Discord's do: their order is the order of what happened. */
export class Snowflakes {
  #last: bigint;

  constructor(last = "0") {
    this.#last = BigInt(last);
  }

  next(): string {
    const now = (BigInt(Date.now()) - epoch) << 22n;
    this.#last = now > this.#last ? now : this.#last + 1n;
    return String(this.#last);
  }
}

/** Below 0 if `first` was made before `second`: for decimal numbers without leading zeros the longer is the greater. */
export function compareIds(first: string, second: string): number {
  if (first.length !== second.length) return first.length - second.length;
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Where something of this id stands in a list with ascending ids, or -1. */
export function positionOf(list: readonly { readonly id: string }[], id: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareIds(list[middle]?.id ?? id, id) < 0) low = middle + 1;
    else high = middle;
  }
  return list[low]?.id === id ? low : -1;
}
