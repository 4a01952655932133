import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { programFolder } from "./support/program.ts";

const place = programFolder();

describe("threadkeeper start, without a token", () => {
  it("opens a Discord in the terminal, and the thread still remembers after leaving and coming back", async () => {
    const first = place.run(["start"]);
    first.says("@Threadkeeper The parrot is called Quintus.");
    expect(await first.ends()).toBe(0);
    expect(first.output).toContain("You are Ada.");
    expect(first.output).toContain("a thread is opened on it: “The parrot is called Quintus.”");

    const second = place.run([]);
    second.says("What is the parrot called?");
    expect(await second.ends()).toBe(0);
    expect(second.output).toContain("You were here before.");
    const answer = second.output.slice(second.output.indexOf("Ada: What is the parrot called?"));
    expect(answer).toContain("> The parrot is called Quintus.");

    const third = place.run([]);
    third.says("/reset");
    third.says("What is the parrot called?");
    third.says(":quit");
    expect(await third.ends()).toBe(0);
    expect(third.output.slice(third.output.indexOf("Forgotten"))).not.toContain("Quintus");
  });

  it("says in the end where all is kept, also where that is two places", async () => {
    const farewells: [string, RegExp][] = [
      ["", /^Bye\. All is kept in data\/sandbox: the next start goes on from here\.$/],
      [
        "sqlite:other.sqlite",
        /^Bye\. What was said is kept in data\/sandbox, and the sessions in SQLite file .*other.sqlite: /,
      ],
      ["memory:", /^Bye\.$/],
    ];
    for (const [setting, farewell] of farewells) {
      const program = place.run(["start"], { SESSION_STORE: setting });
      program.says(":quit");
      expect(await program.ends()).toBe(0);
      expect(program.output.trimEnd().split("\n").at(-1)).toMatch(farewell);
    }
  });

  it("keeps what it keeps for this user only", async () => {
    const program = place.run(["start"]);
    program.says("@Threadkeeper hello");
    await program.ends();
    const mode = async (name: string) => (await stat(path.join(place.folder, name))).mode & 0o777;
    expect(await mode("data")).toBe(0o700);
    expect(await mode("data/sandbox")).toBe(0o700);
    for (const name of ["discord.json", "sessions.sqlite", "threadkeeper.log"]) {
      expect([name, await mode(`data/sandbox/${name}`)]).toEqual([name, 0o600]);
    }
    expect(await readFile(path.join(place.folder, "data/sandbox/threadkeeper.log"), "utf8")).not.toContain("hello");
  });

  it("does not let two use the same folder", async () => {
    const first = place.run(["start"]);
    await first.prints("You are Ada.");
    const second = place.run(["start"]);
    expect(await second.ends()).toBe(1);
    expect(second.output).toContain(`another Threadkeeper (process ${first.process.pid}) is using data/sandbox`);
    expect(await first.kill("SIGKILL")).toBe("SIGKILL");
    const third = place.run(["start"]);
    third.says(":quit");
    expect(await third.ends()).toBe(0);
  });

  it("says what to do when what was kept can't be read, and leaves it as it is", async () => {
    await mkdir(path.join(place.folder, "data/sandbox"), { recursive: true });
    const file = path.join(place.folder, "data/sandbox/discord.json");
    await writeFile(file, "{bad");
    const program = place.run(["start"]);
    expect(await program.ends()).toBe(1);
    expect(program.output).toContain("discord.json is not JSON: move it away to begin with a new sandbox");
    expect(await readFile(file, "utf8")).toBe("{bad");
  });

  it("lets one be somebody else, list threads and read the help", async () => {
    const program = place.run(["start"]);
    program.says("/help");
    for (const line of [
      ":as Ben",
      "@Threadkeeper I like tea.",
      ":general",
      ":threads",
      ":thread 1",
      ":nonsense",
      "/nonsense",
    ]) {
      program.says(line);
    }
    expect(await program.ends()).toBe(0);
    expect(program.output).toContain("Mention me (@Threadkeeper) in a channel");
    expect(program.output).toContain("Ben: @Threadkeeper I like tea.");
    expect(program.output).toContain("1  I like tea.");
    expect(program.output).toContain("there is no :nonsense");
    expect(program.output).toContain("there is no command /nonsense here");
  });

  it("runs on without anybody at the keyboard, until it is told to stop", async () => {
    const program = place.run(["start"]);
    program.process.stdin?.end();
    await program.prints("You are Ada.");
    expect(await program.kill("SIGTERM")).toBe(0);
  });
});
