export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The median of one round's ratio after another, so that what slows both down counts for neither. */
export function medianRatio(above: readonly number[], below: readonly number[]): number {
  return median(above.slice(0, below.length).map((value, round) => value / (below[round] ?? Number.NaN)));
}
