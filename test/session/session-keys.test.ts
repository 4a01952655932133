import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Session } from "../../src/session/session.ts";
import type { Author } from "../../src/session/session-event.ts";
import type { Input, Run, SessionManager } from "../../src/session/session-manager.ts";
import { controlKey, eventKey, summaryKey } from "../../src/session/session-record.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { contents, put, type StorePlace } from "../support/store-contract.ts";
import { memoryPlace } from "../support/store-places.ts";

const ada: Author = { id: "ada", name: "Ada" };
const bob: Author = { id: "bob", name: "Bob" };
const input = (id: string): Input => ({
  id,
  content: `words of ${id}`,
  author: ada,
  context: [{ id: `context of ${id}`, author: bob, text: "before" }],
  places: ["here"],
});

describe("The keys of a session", () => {
  let place: StorePlace;
  let store: Store;
  let sessions: SessionManager;
  /** All keys but those of processes. */
  const keys = async (): Promise<string[]> =>
    Object.keys(await contents(store)).filter((key) => !/^(?:owner|alive)\//.test(key));

  beforeEach(async () => {
    place = await memoryPlace();
    store = await place.open();
    sessions = await openSessions({ store });
    for (const id of ["s", "s-2"]) {
      await sessions.take(id, input("1"), { create: true });
      await sessions.take(id, input("2"), { create: true });
    }
    await put(store, "large/s/0.0", "large");
    expect(await keys()).toHaveLength(2 * 12 + 1);
  });
  afterEach(() => place.remove());

  const own = async (sessionId: string): Promise<string[]> =>
    (await keys()).filter((key) => key.split("/").includes(sessionId));

  it("are gone when it is deleted, and nobody else's", async () => {
    expect(await sessions.delete("s")).toBe(true);
    expect(await own("s")).toEqual([]);
    expect(await own("s-2")).toHaveLength(12);
  });

  it("are gone when it is reset, but for its control and where it lies", async () => {
    expect(await sessions.reset("s")).toBe(true);
    expect(await own("s")).toEqual([controlKey("s"), "place/here/s"]);
    expect(await own("s-2")).toHaveLength(12);
    await sessions.take("s", { ...input("3"), places: [] });
    expect(await own("s")).toHaveLength(1 + 1 + 1 + 4 + 2 + 1);
  });

  for (const [what, damage] of Object.entries({
    "an event": () => place.spoil(eventKey("s", 0)),
    "the control": () => place.spoil(controlKey("s")),
    both: async () => {
      await put(store, controlKey("s"), "{}");
      await put(store, eventKey("s", 0), "{}");
    },
  })) {
    it(`are gone when it is reset with ${what} damaged, and it goes on from nothing`, async () => {
      await damage();
      const another = await openSessions({ store });
      expect(await another.reset("s")).toBe(true);
      expect((await own("s")).filter((key) => !key.startsWith("place/"))).toEqual([controlKey("s")]);
      expect(await another.get("s")).toMatchObject({ events: [], earlier: 0 });
      expect(await another.take("s", input("3"))).toMatchObject({ outcome: "run" });
      expect((await another.get("s-2"))?.events).toHaveLength(1);
      await another.close();
    });

    it(`are gone when it is deleted with ${what} damaged, and nobody else's`, async () => {
      await damage();
      expect(await sessions.delete("s")).toBe(true);
      expect(await own("s")).toEqual([]);
      expect(await own("s-2")).toHaveLength(12);
    });
  }

  it("are gone when it is reset with its summary damaged; what was handled is known all the same", async () => {
    const { run } = (await sessions.take("t", input("4"), { create: true })) as { run: Run };
    await sessions.finish(run);
    await sessions.take("t", input("5"));
    const session = (await sessions.get("t")) as Session;
    expect(await sessions.summarise(session, { upTo: 1, text: "in short" })).toBe(true);
    await put(store, summaryKey("t"), "something else");
    const another = await openSessions({ store });
    await expect(another.get("t")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await another.reset("t")).toBe(true);
    expect(await own("t")).toEqual([controlKey("t"), "place/here/t"]);
    expect(await another.take("t", input("4"))).toEqual({ outcome: "known" });
    await another.close();
  });

  it("stay as they are if one of its events was written by a newer program", async () => {
    const before = await keys();
    await put(store, eventKey("s", 0), '{"format":99}');
    await expect(sessions.delete("s")).rejects.toMatchObject({ code: "STORE_FORMAT_NEWER" });
    await expect(sessions.reset("s")).rejects.toMatchObject({ code: "STORE_FORMAT_NEWER" });
    expect(await keys()).toEqual(before);
  });
});
