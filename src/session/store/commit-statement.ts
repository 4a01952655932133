/** One commit as rows: `null` removes a row. Keys and values are as they stand in the table. */
export interface GuardedRows {
  readonly key: string;
  readonly was: string | undefined;
  readonly rows: readonly (readonly [key: string, value: string | null])[];
}

/** SQLite takes 32,766 parameters; so many rows, and what guards them, stay below it. */
const maxParameterRows = 8000;

const furtherRows = " UNION ALL SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)";

/**
 * The one statement that writes: the rows of all commits whose guard still holds, inserted or replaced; gives the keys
 * that were written. One statement is one transaction and one sync of the disk. What is written is chosen before the
 * first row is, since it is chosen from the same table (https://sqlite.org/lang_insert.html).
 *
 * An empty text cannot be a value (see `keyvText`): it means that the row goes, and `removalTriggers` see to that
 * within the statement. Rows travel as parameters, which is twice as fast as one JSON text, which takes what is too
 * much. Each statement is compiled anew: named tables (WITH) in place of `column1` would cost a sixth more.
 */
export function commitStatement(commits: readonly GuardedRows[]): { sql: string; parameters: unknown[] } {
  const rows = commits.flatMap((each, commit) => each.rows.map(([key, value]) => [commit, key, value ?? ""] as const));
  const [direct, further] = [rows.slice(0, maxParameterRows), rows.slice(maxParameterRows)];
  const isLong = further.length > 0;
  const values = `VALUES ${tuples(direct.map(([commit]) => commit))}`;
  const sql = `
INSERT INTO keyv (key, value)
SELECT column2, column3 FROM (${isLong ? `SELECT * FROM (${values})${furtherRows}` : values})
WHERE column1 IN (
  SELECT column1 FROM (VALUES ${tuples(commits.keys())}) WHERE (SELECT value FROM keyv WHERE key = column2) IS column3
)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
RETURNING key`;
  const parameters: unknown[] = direct.flatMap(([, key, value]) => [key, value]);
  if (isLong) parameters.push(JSON.stringify(further));
  for (const { key, was } of commits) parameters.push(key, was ?? null);
  return { sql, parameters };
}

/** Temporary: they belong to the connection, and leave the file's schema to Keyv. */
export const removalTriggers = ["INSERT", "UPDATE"].map(
  (change) => `
CREATE TEMP TRIGGER remove_after_${change.toLowerCase()} AFTER ${change} ON main.keyv WHEN NEW.value = ''
BEGIN DELETE FROM keyv WHERE key = NEW.key; END`,
);

function tuples(ids: Iterable<number>): string {
  return Array.from(ids, (id) => `(${id},?,?)`).join(",");
}
