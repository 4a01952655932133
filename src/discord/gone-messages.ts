import { compareIds, isSnowflake } from "./snowflake.ts";

/** The newest messages of a channel or thread, as they were read. */
export interface LastPage {
  readonly channel: string;
  /** All ids on it, whoever wrote them. */
  readonly ids: readonly string[];
  /** Whether there is nothing older. */
  readonly isWhole: boolean;
}

/**
 * Which of the messages that a session knew before the page was read are no longer there. Judged is only what lies in
 * the page's range. What is not younger than the channel itself lies elsewhere: a thread's starter stands in the
 * channel above it, and so does what that quoted. An empty page says nothing: so a history looks that may not be read.
 */
export function goneMessages(known: readonly string[], { channel, ids, isWhole }: LastPage): string[] {
  const there = new Set(ids);
  const [oldest] = [...ids].sort(compareIds);
  if (oldest === undefined) return [];
  const from = isWhole || compareIds(oldest, channel) < 0 ? channel : oldest;
  return known.filter((id) => isSnowflake(id) && compareIds(id, from) > 0 && !there.has(id));
}
