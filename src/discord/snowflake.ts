/** Discord's first moment, in milliseconds since the epoch. */
const discordEpoch = 1_420_070_400_000n;

/** The lowest id that something of this moment or later can have. */
export function firstIdAt(ms: number): string {
  const since = BigInt(Math.trunc(ms)) - discordEpoch;
  return ((since > 0n ? since : 0n) << 22n).toString();
}

/** Ids are numbers that grow with time, too long for a double. Negative: `one` is older. */
export function compareIds(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : Number(one > other);
}

/** Whether a text is such an id at all. */
export function isSnowflake(id: string): boolean {
  return /^[1-9]\d{16,19}$/.test(id);
}
