import { event, sessionName } from "../words.ts";

/** What is no part of any text, so that SQL can put each event's numbers in its place. */
const seqMark = 4_294_967_295;
const turnMark = 4_294_967_294;

/** Called once for a session: an SQL statement that makes all its rows, and the statement's parameters. */
export interface Filling {
  readonly sql: string;
  readonly parameters: (session: number, events: number) => readonly (string | number)[];
}

/**
 * Rows made inside of SQLite, a hundred times faster than by the mechanism itself: `key` is an SQL expression of
 * `name` (the session's) and `n` (the event's number), `format` what an event looks like in the table.
 */
export function filling(insert: string, key: string, format: (event: object) => string): Filling {
  const [asked, answered] = (["user", "assistant"] as const).map((role) =>
    format({ ...event(`event-${seqMark}`, `turn-${turnMark}`, role), seq: seqMark }),
  );
  const sql = `
WITH RECURSIVE
  given (name, length, asked, answered) AS (VALUES (?, ?, ?, ?)),
  number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number, given WHERE n + 1 < length)
${insert} SELECT ${key}, replace(replace(CASE n % 2 WHEN 0 THEN asked ELSE answered END, '${seqMark}', n), '${turnMark}', n / 2)
FROM number, given`;
  return { sql, parameters: (session, events) => [sessionName(session), events, asked ?? "", answered ?? ""] };
}
