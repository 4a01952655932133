import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openLockedStore, openStore } from "../../src/session/store/open-store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { put } from "../support/store-contract.ts";
import { programFolder } from "./support/program.ts";

describe("Tools for the owner", () => {
  const place = programFolder();
  const run = async (words: string[], env: Record<string, string> = {}) => {
    const program = place.run(words, env);
    return { code: await program.ends(), output: program.output };
  };

  it("check, export and import sessions, also into an encrypted store", { timeout: 90_000 }, async () => {
    const setting = `sqlite:${path.join(place.folder, "data/sandbox/sessions.sqlite")}`;
    const store = await openStore(setting);
    const sessions = await openSessions({ store });
    for (const id of ["a", "b"]) {
      const taken = await sessions.take(id, { id: `${id}1`, content: "Hello\u2028there" }, { create: true });
      if (taken.outcome === "run") await sessions.finish(taken.run);
    }
    await sessions.close();
    await store.close();

    expect(await run(["check"])).toEqual({ code: 0, output: expect.stringContaining("2 sessions, all is well") });
    const copy = `data/sandbox/backup-${new Date().toISOString().slice(0, 10)}.sqlite`;
    expect(await run(["backup"])).toEqual({ code: 0, output: expect.stringContaining(`2 sessions copied to ${copy}`) });
    expect(await run(["backup", copy])).toEqual({ code: 1, output: expect.stringContaining("is there already") });
    // The name of a file, and no setting.
    expect((await run(["backup", "night:1.sqlite"])).output).toContain("2 sessions copied to night:1.sqlite");
    expect((await run(["check"], { SESSION_STORE: `sqlite:${copy}` })).output).toContain("2 sessions, all is well");
    expect((await run(["export", "--to", "all.jsonl"])).code).toBe(0);
    const file = path.join(place.folder, "all.jsonl");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(5);
    // A file that is there is somebody's.
    expect(await run(["export", "--to", "all.jsonl"])).toEqual({
      code: 1,
      output: "threadkeeper: all.jsonl is there already, and is left as it is: choose another name\n",
    });
    expect(await run(["export", "--to", "none/all.jsonl"])).toEqual({
      code: 1,
      output: "threadkeeper: none/all.jsonl cannot be made: its folder is not there\n",
    });
    expect(await run(["export", "b", "--markdown"])).toEqual({
      code: 0,
      output: expect.stringMatching(/^# Session b\n\n\*\*Somebody\*\*.*\n\n> Hello\n> there\n/),
    });
    expect(await run(["export", "none"])).toEqual({ code: 1, output: expect.stringContaining("none is left out") });

    const other = { SESSION_STORE: "sqlite:other.sqlite", SESSION_KEY: "1".repeat(64) };
    expect(await run(["import", "all.jsonl"], other)).toEqual({
      code: 0,
      output: expect.stringContaining("2 sessions"),
    });
    expect((await run(["export", "--to", "again.jsonl"], other)).code).toBe(0);
    expect(await readFile(path.join(place.folder, "again.jsonl"), "utf8")).toBe(await readFile(file, "utf8"));
    expect(await run(["import", "all.jsonl"], other)).toEqual({
      code: 1,
      output: expect.stringContaining("there already"),
    });
    expect((await run(["check"], other)).output).toContain("(encrypted): 2 sessions, all is well");

    const raw = await openLockedStore(setting);
    await put(raw, "event/a/0000000000", "damaged");
    await raw.close();
    expect(await run(["check"])).toEqual({ code: 1, output: expect.stringContaining("event 0 of session a") });
    const { code, output } = await run(["export"]);
    expect(code).toBe(1);
    expect(output).toContain("session a is left out");
    expect(output).toContain('"session":"b"');
  });

  it("refuse a file with a wrong line, and name it; nothing of it is imported", { timeout: 60_000 }, async () => {
    const good = '{"session":"a","events":0,"record":{"format":2,"state":{},"handled":{"recent":[]},"waiting":[]}}';
    await writeFile(path.join(place.folder, "bad.jsonl"), `${good}\n{"session":\n`);
    const env = { SESSION_STORE: "sqlite:new.sqlite" };
    expect(await run(["import", "bad.jsonl"], env)).toEqual({
      code: 1,
      output: expect.stringContaining("bad.jsonl: line 2: it is not JSON; nothing was imported"),
    });
    await expect(stat(path.join(place.folder, "new.sqlite"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await run(["import", "none.jsonl"], env)).toEqual({
      code: 1,
      output: "threadkeeper: none.jsonl: there is no such file; nothing was imported\n",
    });
    expect(await run(["import", "."], env)).toEqual({
      code: 1,
      output: expect.stringContaining(".: it is a folder"),
    });
    await writeFile(path.join(place.folder, "good.jsonl"), `${good}\n`);
    expect(await run(["import", "good.jsonl"], { SESSION_STORE: "memory:" })).toEqual({
      code: 1,
      output: expect.stringContaining("SESSION_STORE is memory:"),
    });
    expect(await run(["import"], env)).toEqual({ code: 1, output: expect.stringContaining("one file") });
    expect(await run(["export", "--colour"], env)).toEqual({ code: 2, output: expect.stringContaining("--colour") });
    expect(await run(["check", "all"], env)).toEqual({ code: 2, output: expect.stringContaining('leave out "all"') });
  });

  it("leave no part of an export behind when there is no room for it", { timeout: 60_000 }, async () => {
    const store = await openStore(`sqlite:${path.join(place.folder, "data/sandbox/sessions.sqlite")}`);
    const sessions = await openSessions({ store });
    for (const id of ["a", "b"]) {
      const taken = await sessions.take(id, { id: `${id}1`, content: id.repeat(99_000) }, { create: true });
      if (taken.outcome === "run") await sessions.finish(taken.run);
    }
    await sessions.close();
    await store.close();
    // No file of this process may grow beyond 128 KB.
    const limited = place.run(["export", "--to", "all.jsonl"], {}, ["bash", "-c", 'ulimit -f 128; exec "$0" "$@"']);
    expect(await limited.ends()).toBe(1);
    expect(limited.output).toContain("all.jsonl cannot be written: EFBIG");
    await expect(stat(path.join(place.folder, "all.jsonl"))).rejects.toMatchObject({ code: "ENOENT" });
    expect((await run(["export", "--to", "all.jsonl"])).code).toBe(0);
  });

  it("tell what they take, and what was probably meant", { timeout: 60_000 }, async () => {
    for (const words of [
      ["import", "--help"],
      ["check", "-h"],
      ["help", "--help"],
      ["help", "rekey"],
    ]) {
      expect(await run(words)).toEqual({ code: 0, output: expect.stringContaining("threadkeeper export") });
    }
    for (const [words, why] of [
      [["chekc"], 'there is no "chekc"; did you mean check?'],
      [["--hepl"], 'there is no "--hepl"; did you mean --help?'],
      [["help", "chekc"], 'there is no "chekc"; did you mean check?'],
      // What every object has is no command.
      [["constructor"], 'there is no "constructor"'],
      [["check", "--bogus"], 'check takes no options: leave out "--bogus"'],
      [["rekey", "right", "now"], 'rekey takes no words behind it: leave out "right now"'],
      [["export", "--markdwon"], "export: Unknown option '--markdwon'; did you mean --markdown?"],
      [["export", "--to", "--markdown"], "export: Option '--to' argument is ambiguous"],
      [["import", "--to", "all.jsonl"], 'import takes no options: leave out "--to"'],
      [["backup", "--force"], 'backup takes no options: leave out "--force"'],
    ] as const) {
      const output = `threadkeeper: ${why}\n"threadkeeper --help" tells what there is.\n`;
      expect(await run([...words])).toEqual({ code: 2, output });
    }
  });
});
