import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/session/store/open-store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { programFolder } from "./support/program.ts";

const [one, two] = ["1".repeat(64), Buffer.alloc(32, 2).toString("base64")];

describe("threadkeeper rekey", () => {
  const place = programFolder();
  const rekey = async (env: Record<string, string>) => {
    const program = place.run(["rekey"], { LOG_FORMAT: "json", ...env });
    return { code: await program.ends(), output: program.output };
  };

  it("encrypts what is there, changes its key and takes it away; what was said stays", {
    timeout: 60_000,
  }, async () => {
    const file = path.join(place.folder, "data/sandbox/sessions.sqlite");
    const before = await openStore(`sqlite:${file}`);
    const sessions = await openSessions({ store: before });
    await sessions.create({ sessionId: "s", state: { word: "Xylophonquartett" } });
    await sessions.close();
    // To read a file that SQLite has open in the same process would take its locks away.
    await before.close();
    expect((await readFile(file, "latin1")) + (await readFile(`${file}-wal`, "latin1").catch(() => ""))).toContain(
      "Xylo",
    );

    // Without a key, and with one, the program says what it found.
    expect(await rekey({})).toEqual({ code: 0, output: expect.stringContaining("Nothing to do") });
    expect(await rekey({ SESSION_KEY: one })).toEqual({
      code: 0,
      output: expect.stringContaining("encrypted with SESSION_KEY"),
    });
    expect(await readFile(file, "latin1")).not.toContain("Xylo");

    const wrong = await rekey({ SESSION_KEY: two });
    expect(wrong).toEqual({ code: 1, output: expect.stringContaining("set SESSION_KEY_OLD") });
    expect((await rekey({ SESSION_KEY: two, SESSION_KEY_OLD: one })).code).toBe(0);
    const store = await openStore(`sqlite:${file}`, { key: Buffer.alloc(32, 2) });
    const again = await openSessions({ store });
    expect((await again.get("s"))?.state).toEqual({ word: "Xylophonquartett" });
    // A bot is at work.
    const busy = await rekey({ SESSION_KEY_OLD: two, TAKE_OVER_SECONDS: "30" });
    expect(busy).toEqual({ code: 1, output: expect.stringContaining("stop the bot") });
    await again.close();
    await store.close();
    expect(await rekey({ SESSION_KEY_OLD: two })).toEqual({
      code: 0,
      output: expect.stringContaining("not encrypted"),
    });
    const after = await openStore(`sqlite:${file}`);
    const plain = await openSessions({ store: after });
    expect((await plain.get("s"))?.state).toEqual({ word: "Xylophonquartett" });
    await plain.close();
    await after.close();
  });

  it("makes no store where there is none, and says what is wrong with a key without showing it", async () => {
    expect(await rekey({ SESSION_KEY: one })).toEqual({
      code: 1,
      output: expect.stringContaining("there is no SQLite"),
    });
    const odd = await rekey({ SESSION_KEY: "hidden-word" });
    expect(odd).toEqual({ code: 1, output: expect.stringContaining("SESSION_KEY must be 32 random bytes") });
    expect(odd.output).not.toContain("hidden-word");
    expect(await rekey({ SESSION_STORE: "memory:" })).toEqual({ code: 1, output: expect.stringContaining("memory:") });
  });
});
