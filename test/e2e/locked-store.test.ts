import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KeyvSqlite } from "@keyv/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { answeringModel } from "./support/answering-model.ts";
import { openHouse } from "./support/house.ts";
import { asks, botTexts, opensThread } from "./support/talk.ts";

/** Another program that has the sessions' file open, as a backup or a viewer has. */
async function otherProgram(folder: string): Promise<{ lock(): Promise<void>; unlock(): Promise<void> }> {
  const adapter = new KeyvSqlite({ uri: `sqlite://${path.join(folder, "sessions.sqlite")}` });
  onTestFinished(() => adapter.disconnect());
  return {
    lock: () => adapter.query("BEGIN IMMEDIATE").then(() => {}),
    unlock: () => adapter.query("ROLLBACK").then(() => {}),
  };
}

describe("a store that another program holds locked", () => {
  it("for a moment is waited for; for too long it is said, and no session is ever empty for it", async () => {
    const model = answeringModel(({ questions }) => `heard: ${questions.join(" | ")}`);
    const { sandbox, folder, start, logged } = await openHouse({ model });
    const house = await start();
    const thread = await opensThread(sandbox, sandbox.owner, "the deadline is Dec 27");
    await house.quiet();
    const other = await otherProgram(folder);

    await other.lock();
    const answered = asks(sandbox, sandbox.owner, thread, "one");
    await pause(1_000);
    expect(model.shown).toHaveLength(1);
    await other.unlock();
    expect((await answered).content).toBe("heard: one");
    await house.quiet();

    await other.lock();
    const sorry = await asks(sandbox, sandbox.owner, thread, "two");
    await house.quiet();
    await other.unlock();
    expect(sorry.content).toContain("It is in use; please try again in a moment.");
    expect(logged).toContainEqual(expect.objectContaining({ code: "STORE_BUSY", sessionId: `discord:${thread.id}` }));

    expect((await asks(sandbox, sandbox.owner, thread, "three")).content).toContain("three");
    for (const words of ["the deadline is Dec 27", "one", "three"]) expect(model.shown.at(-1)?.prompt).toContain(words);
    expect(botTexts(sandbox, thread)).toHaveLength(4);
  });
});
