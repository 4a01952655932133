import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkStore } from "../../src/session/check-store.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { agentRoom, drain, eventually, shape } from "../support/agent-room.ts";
import { contents } from "../support/store-contract.ts";

const ids = ["discord:1", "discord:ended", "discord:failed", "discord:large", "discord:tool", "discord:waits"];
const long = "x".repeat(20_000);

/** What the program of format 1 left when it was killed (at commit 913d854), but for one long text. */
async function write(store: Store): Promise<void> {
  const file = await readFile(new URL("fixtures/format-1.json", import.meta.url), "utf8");
  for (const [key, record] of Object.entries(JSON.parse(file.replace("LARGE", long)) as Record<string, object>)) {
    await store.commit({ key, was: undefined, put: new Map([[key, JSON.stringify(record)]]) });
  }
}

async function findings(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { message } of checkStore(store)) found.push(message);
  return found;
}

describe("A store that a program of format 1 left", () => {
  let store: Store;
  let sessions: SessionManager;

  beforeEach(async () => {
    store = openMemoryStore();
    await write(store);
    sessions = await openSessions({ store, takeOverMs: 2000 });
  });
  afterEach(() => sessions.close());

  it("is read: every session has its events and its state", async () => {
    const read = await Promise.all(ids.map((id) => sessions.get(id)));
    expect(read.map((session) => session?.events.length)).toEqual([2, 2, 1, 2, 2, 0]);
    expect(read[0]).toMatchObject({ state: { deadline: "Dec 27" }, events: [{ author: { name: "Anna" } }, {}] });
    expect(read[3]?.events[0]?.message.content).toBe(long);
  });

  it("is answered: what was begun is shown or gone on with under its own name, and what waited follows", async () => {
    await eventually(async () => expect(await sessions.unfinished()).toHaveLength(4));
    const { agent, model } = await agentRoom([["A"], ["B"], ["C"], ["D"]], {
      sessions,
    });
    const told: Record<string, string[]> = {};
    for (const id of (await sessions.unfinished()).sort()) {
      told[id] = shape((await drain(agent.resume(id))).events);
    }
    expect(told).toEqual({
      "discord:ended": ["turn-start", "turn-end other", "turn-start", 'text "A"', "turn-end stop"],
      "discord:failed": ["turn-start", "turn-end other"],
      "discord:tool": ["turn-start", 'text "B"', "turn-end stop", "turn-start", 'text "C"', "turn-end stop"],
      "discord:waits": ["turn-start", 'text "D"', "turn-end stop"],
    });
    expect(model.promptOf(1)).toContain("Whether it took effect is unknown");
    expect(await sessions.unfinished()).toEqual([]);
  });

  it("is whole, before a session is used and after: with all rows by which words are found, so that they can go", async () => {
    expect(await findings(store)).toEqual([]);
    for (const id of ids) await sessions.get(id);
    expect(await findings(store)).toEqual([]);
    const gone = ["1400000000000000001", "1300000000000000001", "1400000000000000002", "1400000000000000008"];
    expect(await sessions.erase(gone)).toEqual(["discord:1", "discord:large", "discord:waits"]);
    const left = JSON.stringify(await contents(store));
    for (const words of ["Set the deadline.", "overheard", "xxxx", "Anybody?"]) expect(left).not.toContain(words);
    expect(await sessions.list({ user: "100000000000000001" })).toHaveLength(6);
    for (const id of ids) await sessions.delete(id);
    expect(Object.keys(await contents(store)).filter((key) => key.includes("discord:"))).toEqual([]);
  });
});
