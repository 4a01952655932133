/**
 * Of each list the newest entries (they stand in order, the oldest first), at most `most` in all and `mostOfOne` of
 * one: given out in turns, so that a long list leaves to the short ones what they have.
 */
export function fairShare<T>(lists: readonly (readonly T[])[], most: number, mostOfOne: number): T[][] {
  const wanted = lists.map(({ length }) => Math.min(length, mostOfOne));
  const given = wanted.map(() => 0);
  let left = Math.max(0, most);
  for (let moved = true; moved && left > 0; ) {
    moved = false;
    for (const [index, want] of wanted.entries()) {
      const have = given[index] ?? 0;
      if (have >= want || left === 0) continue;
      given[index] = have + 1;
      left -= 1;
      moved = true;
    }
  }
  return lists.map((list, index) => list.slice(list.length - (given[index] ?? 0)));
}
