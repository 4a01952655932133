import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { programFolder } from "./support/program.ts";

const place = programFolder();

describe("threadkeeper demo", () => {
  it("shows memory across a restart of the bot's process, and its loss by /reset", async () => {
    const program = place.run(["demo"]);
    expect(await program.ends()).toBe(0);
    const [before = "", after = "", reset = ""] = program.output.split(/^--- .* ---$/m);
    expect(before).toContain("↳ thread");
    expect(after).toContain("Ada: When is the deadline for Project Alpha?");
    expect(after).toContain("> The deadline for Project Alpha is December 27.");
    expect(reset).toContain("Ada: When is the deadline for Project Alpha?");
    expect(reset).toContain("I have nothing on that in this conversation");
    expect(reset).not.toContain("> The deadline");

    // The README shows this very output.
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const shown = /```text\n(.*?)```/s.exec(readme)?.[1] ?? "";
    const anyTime = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d at \d\d:\d\d/g, "(time)");
    expect(anyTime(program.output)).toContain(anyTime(shown.trim()));
  });
});
