import { describe, expect, it } from "vitest";
import { findOpenSessions } from "../../../src/session/ownership/open-sessions.ts";
import { openKey } from "../../../src/session/session-record.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { CutStore } from "../../support/cut-store.ts";

async function openUnder(owners: Record<string, readonly string[]>): Promise<CutStore> {
  const put = new Map<string, string>();
  for (const [owner, sessions] of Object.entries(owners)) {
    for (const session of sessions) put.set(openKey(owner, session), "{}");
  }
  const store = openMemoryStore();
  await store.commit({ key: "any", was: undefined, put: new Map([["any", ""], ...put]) });
  return new CutStore(store);
}

const numbered = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}${String(index).padStart(5, "0")}`);

describe("Open sessions", () => {
  it("are those of this process and nobody's; those of others that are there are not read", async () => {
    const store = await openUnder({
      "-": ["waits"],
      ab: numbered(2500, "theirs"),
      "ab-c": ["left"],
      ab0: ["left-too"],
      abc: ["kept"],
      mine: numbered(1200, "own"),
      zz: ["last"],
    });
    const asked: string[] = [];
    const found = await findOpenSessions({
      store,
      mine: "mine",
      isGone: async (owner) => {
        asked.push(owner);
        return owner !== "ab" && owner !== "abc";
      },
    });
    expect(found.nobodys).toEqual(["waits", "left", "left-too", "last"]);
    expect([...found.mine]).toEqual(numbered(1200, "own"));
    expect(new Set(asked)).toEqual(new Set(["ab", "ab-c", "ab0", "abc", "zz"]));
    expect(store.calls.length).toBeLessThanOrEqual(10);
  });

  it("of nobody are 1000 at a time, so that a look has an end; one's own are all", async () => {
    const store = await openUnder({ "-": numbered(700, "w"), gone: numbered(5000, "g"), mine: ["own"], q: ["late"] });
    const found = await findOpenSessions({ store, mine: "mine", isGone: async () => true });
    expect(found.nobodys).toEqual([...numbered(700, "w"), ...numbered(300, "g")]);
    expect([...found.mine]).toEqual(["own"]);
    expect(store.calls.length).toBeLessThanOrEqual(6);
  });

  it("are none in a store that has none", async () => {
    const found = await findOpenSessions({ store: await openUnder({}), mine: "mine", isGone: async () => true });
    expect(found).toEqual({ mine: new Set(), nobodys: [] });
  });
});
