/** One commit as rows: `null` removes a row. Keys and values are as they stand in the table. */
export interface GuardedRows {
  readonly key: string;
  readonly was: string | undefined;
  readonly rows: readonly (readonly [key: string, value: string | null])[];
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * The one statement that writes: the rows of all these commits, or nothing: it fails as `isBrokenGuard` knows it if one
 * guard no longer holds. One statement is one transaction and one sync of the disk. What is written is chosen before the
 * first row is, since it is chosen from the same table (https://sqlite.org/lang_insert.html).
 *
 * Each statement is compiled anew, so that every word of it counts: named tables (WITH) in place of `column1` would cost
 * a sixth more, RETURNING a tenth, triggers on the table a twentieth.
 */
export function commitAll(commits: readonly GuardedRows[]): Statement {
  const rows = commits.flatMap((each) => each.rows);
  const values = valuesOf(rows.map(([key, value]) => [key, value ?? ""]));
  const broken = `SELECT 1 FROM (VALUES ${tuples("(?,?)", commits.length)}) WHERE (${storedAt("column1")}) IS NOT column2`;
  const chosen = `SELECT * FROM (${values.sql}) WHERE CASE WHEN EXISTS (${broken}) THEN json('') ELSE true END`;
  return {
    sql: rows.some(([, value]) => value === null)
      ? `INSERT INTO changed (key, value) ${chosen}`
      : `INSERT INTO keyv (key, value) ${chosen} ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    parameters: [...values.parameters, ...commits.flatMap(guardOf)],
  };
}

export function isBrokenGuard(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("malformed JSON");
}

/** The same of those commits whose guard holds; gives the keys that were written. */
export function commitSome(commits: readonly GuardedRows[]): Statement {
  const rows = commits.flatMap(({ rows }, commit) => rows.map(([key, value]) => [key, value ?? "", commit]));
  const values = valuesOf(rows);
  const held = `SELECT column3 FROM (VALUES ${tuples("(?,?,?)", commits.length)}) WHERE (${storedAt("column1")}) IS column2`;
  return {
    sql: `INSERT INTO changed (key, value) SELECT column1, column2 FROM (${values.sql}) WHERE column3 IN (${held}) RETURNING key`,
    parameters: [...values.parameters, ...commits.flatMap((each, commit) => [...guardOf(each), commit])],
  };
}

/**
 * Where rows go of which some are to be removed, which an empty text says: it cannot be a value (see `keyvText`).
 * Temporary: both belong to the connection, and leave the file's schema to Keyv.
 */
export const changedView = [
  "CREATE TEMP VIEW changed (key, value) AS SELECT key, value FROM main.keyv",
  `CREATE TEMP TRIGGER change INSTEAD OF INSERT ON changed BEGIN
     INSERT INTO keyv (key, value) SELECT NEW.key, NEW.value WHERE NEW.value <> ''
       ON CONFLICT (key) DO UPDATE SET value = excluded.value;
     DELETE FROM keyv WHERE NEW.value = '' AND key = NEW.key;
   END`,
];

/** SQLite takes 32,766 parameters; so many rows, and what guards them, stay below it. */
const maxParameterRows = 8000;

/**
 * Rows as a table. They travel as parameters, which is twice as fast as one JSON text, which takes what is too much.
 */
function valuesOf(rows: readonly (readonly unknown[])[]): Statement {
  const [first = []] = rows;
  const [direct, further] = [rows.slice(0, maxParameterRows), rows.slice(maxParameterRows)];
  const sql = `VALUES ${tuples(`(${tuples("?", first.length)})`, direct.length)}`;
  const parameters = direct.flat();
  if (further.length === 0) return { sql, parameters };
  const columns = first.map((_, column) => `value ->> ${column}`).join(", ");
  return {
    sql: `SELECT * FROM (${sql}) UNION ALL SELECT ${columns} FROM json_each(?)`,
    parameters: [...parameters, JSON.stringify(further)],
  };
}

/** NULL is what an absent key has. A row of somebody's whose value is NULL is not absent: it counts as an empty text. */
function guardOf({ key, was }: GuardedRows): unknown[] {
  return [key, was === undefined ? null : (was ?? "")];
}

const storedAt = (key: string): string => `SELECT ifnull(value, '') FROM keyv WHERE key = ${key}`;

function tuples(one: string, count: number): string {
  return Array(count).fill(one).join(",");
}
