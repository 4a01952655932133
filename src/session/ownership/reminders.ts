/** After how many looks a session that stays as it is is told of again, at most. */
const longestPause = 64;

/**
 * Of which sessions to tell, of those that are seen at each look: at once, and then ever more rarely. Usually one
 * telling is enough; where it failed, once more may help, and where it must fail, nobody should be told all the time.
 */
export class Reminders {
  readonly #pauses = new Map<string, { left: number; next: number }>();

  /** Everything counts as new again. */
  forget(): void {
    this.#pauses.clear();
  }

  due(seen: readonly string[]): string[] {
    const present = new Set(seen);
    for (const sessionId of this.#pauses.keys()) if (!present.has(sessionId)) this.#pauses.delete(sessionId);
    return seen.filter((sessionId) => {
      const pause = this.#pauses.get(sessionId) ?? { left: 0, next: 1 };
      this.#pauses.set(sessionId, pause);
      if (pause.left-- > 0) return false;
      pause.left = pause.next;
      pause.next = Math.min(pause.next * 2, longestPause);
      return true;
    });
  }
}
