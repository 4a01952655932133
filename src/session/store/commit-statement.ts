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
 * that were written. One statement is one transaction and one sync of the disk.
 *
 * An empty text cannot be a value (see `keyvText`): it means that the row goes, and `removalTriggers` see to that
 * within the statement. Rows travel as parameters, which is twice as fast as one JSON text, which takes what is too much.
 */
export function commitStatement(commits: readonly GuardedRows[]): { sql: string; parameters: unknown[] } {
  const guards = commits.map(({ key, was }, commit) => [commit, key, was ?? null]);
  const rows = commits.flatMap((each, commit) => each.rows.map(([key, value]) => [commit, key, value ?? ""]));
  const [direct, further] = [rows.slice(0, maxParameterRows), rows.slice(maxParameterRows)];
  // Hardly any commit has such, and each statement is compiled anew: without it a third faster.
  const isLong = further.length > 0;
  const sql = `
WITH
  guard (id, key, was) AS (VALUES ${tuples(guards.length)}),
  won (id) AS MATERIALIZED (
    SELECT guard.id FROM guard LEFT JOIN keyv ON keyv.key = guard.key WHERE keyv.value IS guard.was
  ),
  direct (id, key, value) AS (VALUES ${tuples(direct.length)}),
  put (id, key, value) AS (SELECT * FROM direct${isLong ? furtherRows : ""})
INSERT INTO keyv (key, value)
SELECT put.key, put.value FROM put JOIN won ON won.id = put.id WHERE true
ON CONFLICT (key) DO UPDATE SET value = excluded.value
RETURNING key`;
  const parameters = [...guards.flat(), ...direct.flat()];
  return { sql, parameters: isLong ? [...parameters, JSON.stringify(further)] : parameters };
}

/** Temporary: they belong to the connection, and leave the file's schema to Keyv. */
export const removalTriggers = ["INSERT", "UPDATE"].map(
  (change) => `
CREATE TEMP TRIGGER remove_after_${change.toLowerCase()} AFTER ${change} ON main.keyv WHEN NEW.value = ''
BEGIN DELETE FROM keyv WHERE key = NEW.key; END`,
);

function tuples(count: number): string {
  return Array.from({ length: count }, () => "(?,?,?)").join(",");
}
