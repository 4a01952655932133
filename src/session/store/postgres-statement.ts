import type { GuardedRows } from "./commit-statement.ts";

/**
 * The one statement that writes: the rows of all commits whose guard still holds; gives the numbers of those commits.
 * One statement is one transaction.
 *
 * Under READ COMMITTED a statement sees what was committed when it began, and a row that somebody holds is looked at
 * again only where it is locked or updated. So the guards come first: those that are there are locked as what they must
 * be, those that must be absent are inserted. All in the order of their keys, so that two processes don't wait for each
 * other. (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED)
 */
export const commitSql = `
WITH
  guard AS MATERIALIZED (SELECT * FROM unnest($1::int[], $2::text[], $3::text[]) AS t (id, key, was)),
  line AS MATERIALIZED (SELECT * FROM unnest($4::int[], $5::text[], $6::text[]) AS t (id, key, value)),
  held AS MATERIALIZED (
    SELECT guard.id FROM public.keyv AS stored JOIN guard ON guard.key = stored.key
    WHERE coalesce(stored.value, '') = guard.was ORDER BY stored.key FOR UPDATE OF stored
  ),
  made AS (
    INSERT INTO public.keyv (key, value)
    SELECT line.key, line.value FROM line JOIN guard USING (id, key) WHERE guard.was IS NULL AND line.value IS NOT NULL
    ORDER BY line.key
    ON CONFLICT DO NOTHING RETURNING key
  ),
  won AS MATERIALIZED (SELECT id FROM held UNION ALL SELECT guard.id FROM made JOIN guard USING (key)),
  gone AS (
    DELETE FROM public.keyv AS stored USING line JOIN won USING (id) WHERE stored.key = line.key AND line.value IS NULL
  ),
  put AS (
    INSERT INTO public.keyv (key, value)
    SELECT line.key, line.value FROM line JOIN won USING (id) JOIN guard USING (id)
    WHERE line.value IS NOT NULL AND NOT (guard.was IS NULL AND line.key = guard.key)
    ORDER BY line.key
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
  )
SELECT id FROM won`;

/** The values of `commitSql`. A guard that must be absent has to be among the rows that are put. */
export function commitValues(commits: readonly GuardedRows[]): unknown[] {
  const lines = commits.flatMap(({ rows }, id) => rows.map(([key, value]) => ({ id, key, value })));
  return [
    commits.map((_, id) => id),
    commits.map(({ key }) => key),
    commits.map(({ was }) => was ?? null),
    lines.map(({ id }) => id),
    lines.map(({ key }) => key),
    lines.map(({ value }) => value),
  ];
}
