/**
 * A process that writes to a SQLite store until it is killed, and tells its parent of each commit that was made.
 * Three writers: each commit moves its control, adds rows and removes those of five commits ago.
 */
import { openSqliteStore } from "../../src/session/store/sqlite.ts";

const store = await openSqliteStore(process.argv[2] as string);
const [writers, rows] = [3, 4];

async function writeOn(writer: number): Promise<void> {
  const control = `control/${writer}`;
  for (;;) {
    const [was] = await store.get([control]);
    const next = Number(was?.value ?? 0) + 1;
    const names = (commit: number) => Array.from({ length: rows }, (_, row) => `row/${writer}/${commit}/${row}`);
    const text = `${next} `.repeat(1 + ((next * 37) % 1500));
    const put = new Map([[control, String(next)], ...names(next).map((name) => [name, text] as const)]);
    const remove = next > 5 ? names(next - 5) : [];
    if (!(await store.commit({ key: control, was: was?.version, put, remove, forget: next % 7 === 0 })))
      throw new Error("lost");
    process.send?.({ writer, commit: next });
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => writeOn(writer)));
