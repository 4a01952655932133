import type { Commit } from "./store.ts";

const maxCommits = 64;
const maxCharacters = 8_000_000;

/**
 * Commits that can share one statement: no key stands twice in them, neither as a guard nor as a row, since the
 * commits of one statement cannot see each other. What is left out goes first in the next one.
 */
export function chooseCommits(waiting: readonly Commit[]): readonly Commit[] {
  if (waiting.length === 1) return waiting;
  const chosen: Commit[] = [];
  const taken = new Set<string>();
  let characters = 0;
  for (const commit of waiting) {
    const keys = keysOf(commit);
    const size = sizeOf(commit);
    if (keys.some((key) => taken.has(key)) || (chosen.length > 0 && characters + size > maxCharacters)) continue;
    chosen.push(commit);
    for (const key of keys) taken.add(key);
    characters += size;
    if (chosen.length === maxCommits) break;
  }
  return chosen;
}

function keysOf({ key, put, remove = [] }: Commit): string[] {
  return [key, ...put.keys(), ...remove];
}

function sizeOf({ was, put, remove = [] }: Commit): number {
  let characters = was?.length ?? 0;
  for (const [key, value] of put) characters += key.length + value.length;
  for (const key of remove) characters += key.length;
  return characters;
}
