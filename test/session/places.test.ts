import { describe, expect, it } from "vitest";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";

describe("places", () => {
  it("are found by what their names begin with, each once, however many sessions lie in them", async () => {
    const sessions = await openSessions({ store: openMemoryStore() });
    const say = (sessionId: string, ...places: string[]) =>
      sessions.take(sessionId, { id: "1", content: "hi", places }, { create: true, start: false });
    await say("a", "bot:1:guild:7", "bot:1:channel:9");
    await say("b", "bot:1:guild:7");
    await say("~~~", "bot:1:guild:7", "bot:1:guild:70");
    await say("c", "bot:1:guild:8/ä", "bot:11:guild:7", `bot:1:guild:${"ä".repeat(30)}`);
    expect(await sessions.places("bot:1:guild:")).toEqual(["bot:1:guild:7", "bot:1:guild:70", "bot:1:guild:8/ä"]);
    expect(await sessions.places("bot:1:channel:")).toEqual(["bot:1:channel:9"]);
    expect(await sessions.places("bot:2:")).toEqual([]);
    expect(await sessions.places("")).toHaveLength(5);
    await sessions.delete("a");
    expect(await sessions.places("bot:1:channel:")).toEqual([]);
    await sessions.close();
    await expect(sessions.places("")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
