import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../../src/session/store/sqlite.ts";
import { contents } from "../../support/store-contract.ts";

const kills = 12;

it(`After ${kills} kills in the middle of writing, each commit is whole or absent, and none that was confirmed is lost`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "threadkeeper-kill-"));
  const path = join(directory, "sessions.sqlite");
  const confirmed = [0, 0, 0];
  try {
    for (let kill = 0; kill < kills; kill++) {
      await writeUntilKilled(path, 5 + ((kill * 17) % 60), confirmed);
      const store = await openSqliteStore(path);
      const seen = await contents(store);
      await store.close();
      const expected: Record<string, string> = {};
      for (const [writer, atLeast] of confirmed.entries()) {
        const last = Number(seen[`control/${writer}`] ?? 0);
        expect(last).toBeGreaterThanOrEqual(atLeast);
        if (last > 0) expected[`control/${writer}`] = String(last);
        for (let commit = Math.max(1, last - 4); commit <= last; commit++) {
          for (let row = 0; row < 4; row++) {
            expected[`row/${writer}/${commit}/${row}`] = `${commit} `.repeat(1 + ((commit * 37) % 1500));
          }
        }
      }
      // The opening of a store leaves nothing behind, but one that was killed in it may.
      const left = Object.entries(seen).filter(([key]) => !key.startsWith("probe/"));
      expect(Object.fromEntries(left)).toEqual(expected);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}, 120_000);

/** Lets a child write until it has confirmed so many commits, then kills it, wherever it is. */
async function writeUntilKilled(path: string, commits: number, confirmed: number[]): Promise<void> {
  const child = fork(resolve(import.meta.dirname, "../../support/store-writer.ts"), [path], {
    execArgv: ["--import", "tsx"],
  });
  let left = commits;
  child.on("message", ({ writer, commit }: { writer: number; commit: number }) => {
    confirmed[writer] = Math.max(confirmed[writer] ?? 0, commit);
    if (--left === 0) child.kill("SIGKILL");
  });
  const [code, signal] = await once(child, "exit");
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
}
