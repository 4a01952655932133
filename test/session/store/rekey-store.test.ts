import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { formatOwner, thisProcess } from "../../../src/session/ownership/owner-record.ts";
import { unlockStore } from "../../../src/session/store/encrypted-store.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { openLockedStore, openStore } from "../../../src/session/store/open-store.ts";
import { rekeyStore } from "../../../src/session/store/rekey-store.ts";
import type { Store } from "../../../src/session/store/store.ts";
import { openSessions } from "../../../src/session/store-session-manager.ts";
import { contents, put, write } from "../../support/store-contract.ts";
import { everyPlace, sqlitePlace } from "../../support/store-places.ts";

const key = (seed: number) => new Uint8Array(32).fill(seed);
const takeOverMs = 200;
const secrets = [undefined, key(1), key(2)];
const rows = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`event/${index}`, `${index} Xylophonquartett \ud800`.repeat(index)]),
);

async function filled(map: Map<string, string>, secret: Uint8Array | undefined): Promise<void> {
  const store = await unlockStore(openMemoryStore(map), secret);
  await write(store, { key: "event/0", put: rows });
}

describe("Rewriting a store to another key", () => {
  for (const [f, from] of secrets.entries()) {
    for (const [t, to] of secrets.entries()) {
      it(`keeps every value, from ${f || "none"} to ${t || "none"}`, async () => {
        const map = new Map<string, string>();
        await filled(map, from);
        const seen: number[] = [];
        const rekeyed = await rekeyStore({
          store: openMemoryStore(map),
          from,
          to,
          takeOverMs,
          onProgress: (done) => seen.push(done),
        });
        expect(rekeyed).toEqual({ rewritten: f === t ? 0 : 30, unreadable: [] });
        expect(seen.length > 0).toBe(f !== t);
        expect(await contents(await unlockStore(openMemoryStore(map), to))).toEqual(rows);
        const plain = [...map.values()].join("").includes("Xylophon");
        expect(plain).toBe(to === undefined);
        // A second time there is nothing to do, whatever the key before is said to be.
        const again = await rekeyStore({ store: openMemoryStore(map), from: key(7), to, takeOverMs });
        expect(again.rewritten).toBe(0);
      });
    }
  }

  for (const { from, to } of [
    { from: undefined, to: key(1) },
    { from: key(1), to: key(2) },
    { from: key(1), to: undefined },
  ]) {
    it(`that is killed at any commit goes on with the same keys; until then nobody else opens the store (${from?.[0]} to ${to?.[0]})`, async () => {
      for (let fails = 0; ; fails++) {
        const map = new Map<string, string>();
        await filled(map, from);
        const dying = dyingStore(openMemoryStore(map), fails);
        const first = await rekeyStore({ store: dying, from, to, takeOverMs }).catch((error) => error);
        if (!(first instanceof Error)) {
          expect(fails).toBeGreaterThan(30);
          break;
        }
        expect(first.message).toBe("killed");
        if (fails > 0) {
          for (const secret of secrets) {
            await expect(unlockStore(openMemoryStore(map), secret)).rejects.toMatchObject({ code: "STORE_KEY_WRONG" });
          }
          await expect(rekeyStore({ store: openMemoryStore(map), from, to: key(9), takeOverMs })).rejects.toMatchObject(
            {
              code: "STORE_KEY_WRONG",
            },
          );
        }
        await rekeyStore({ store: openMemoryStore(map), from, to, takeOverMs });
        expect(await contents(await unlockStore(openMemoryStore(map), to))).toEqual(rows);
      }
    });
  }

  it("with a wrong key, or without one, is refused, and changes nothing", async () => {
    const map = new Map<string, string>();
    await filled(map, key(1));
    const before = new Map(map);
    for (const [from, code] of [
      [key(3), "STORE_KEY_WRONG"],
      [undefined, "STORE_KEY_MISSING"],
    ] as const) {
      await expect(rekeyStore({ store: openMemoryStore(map), from, to: key(2), takeOverMs })).rejects.toMatchObject({
        code,
      });
    }
    expect(map).toEqual(before);
  });

  it("is refused while a process works on the store, which can be opened as before then", async () => {
    for (const secret of [undefined, key(1)]) {
      const map = new Map<string, string>();
      await filled(map, secret);
      const store = await unlockStore(openMemoryStore(map), secret);
      const sessions = await openSessions({ store, takeOverMs });
      const rekeying = { store: openMemoryStore(map), from: secret, to: key(2), takeOverMs };
      await expect(rekeyStore(rekeying)).rejects.toMatchObject({
        code: "STORE_BUSY",
        message: expect.stringContaining("stop the bot"),
      });
      await unlockStore(openMemoryStore(map), secret);
      await sessions.close();
      expect((await rekeyStore(rekeying)).rewritten).toBeGreaterThanOrEqual(30);
      expect(await contents(await unlockStore(openMemoryStore(map), key(2)))).toMatchObject(rows);
    }
  });

  it("does not wait for a process that died, here or elsewhere", async () => {
    const map = new Map<string, string>();
    await filled(map, undefined);
    const store = openMemoryStore(map);
    await put(store, "owner/here", formatOwner({ ...thisProcess, pid: 4_194_000, takeOverMs, beat: 1 }));
    await put(store, "owner/elsewhere", formatOwner({ ...thisProcess, host: "another", takeOverMs, beat: 1 }));
    await rekeyStore({ store, from: undefined, to: key(1), takeOverMs });
    expect(await contents(await unlockStore(store, key(1)))).toEqual(rows);
  });

  it("stops if somebody writes meanwhile", async () => {
    const map = new Map<string, string>();
    await filled(map, undefined);
    const store = openMemoryStore(map);
    const meddled: Store = {
      ...bound(store),
      commit: async (change) => {
        if (change.key === "event/5") map.set("keyv:event/5", '{"value":"meanwhile"}');
        return store.commit(change);
      },
    };
    await expect(rekeyStore({ store: meddled, from: undefined, to: key(1), takeOverMs })).rejects.toMatchObject({
      code: "STORE_BUSY",
    });
    await rekeyStore({ store, from: undefined, to: key(1), takeOverMs });
    expect(await contents(await unlockStore(store, key(1)))).toEqual({ ...rows, "event/5": "meanwhile" });
  });

  it("leaves what neither key can read as it is, and names it", async () => {
    const map = new Map<string, string>();
    await filled(map, key(1));
    map.set("keyv:event/3", "garbage");
    map.set("keyv:event/4", map.get("keyv:event/5") as string);
    map.set("keyv:event/6", '{"value":"plain"}');
    const spoilt = ["event/3", "event/4", "event/6"];
    const before = spoilt.map((each) => map.get(`keyv:${each}`));
    const rekeyed = await rekeyStore({ store: openMemoryStore(map), from: key(1), to: key(2), takeOverMs });
    expect(rekeyed).toEqual({ rewritten: 27, unreadable: spoilt });
    expect(spoilt.map((each) => map.get(`keyv:${each}`))).toEqual(before);
  });

  it("leaves nothing of what was plain in the bytes of a SQLite file", async () => {
    const place = await sqlitePlace();
    const store = await openStore(place.setting);
    for (let round = 0; round < 4; round++) {
      const [guard] = await store.get(["event/0"]);
      const many = Object.fromEntries(
        Array.from({ length: 80 }, (_, index) => [
          `event/${index}`,
          "Xylophonquartett ".repeat(1 + ((index * 7) % 40) ** 2),
        ]),
      );
      await write(store, { key: "event/0", was: guard?.version, put: many });
    }
    await store.close();
    expect(await readFile(place.path, "latin1")).toContain("Xylophon");
    const raw = await openLockedStore(place.setting);
    await rekeyStore({ store: raw, from: undefined, to: key(1), takeOverMs });
    const files = [place.path, `${place.path}-wal`].map((file) => readFile(file, "latin1").catch(() => ""));
    expect((await Promise.all(files)).join("")).not.toContain("Xylophon");
    await raw.close();
    const again = await openStore(place.setting, { key: key(1) });
    expect((await again.get(["event/1"]))[0]?.value).toContain("Xylophonquartett");
    await again.close();
    await place.remove();
  });

  it.each(everyPlace)("works in $kind", async ({ makePlace }) => {
    const place = await makePlace();
    const store = await place.open();
    await write(store, { key: "event/0", put: rows });
    expect(await rekeyStore({ store, from: undefined, to: key(1), takeOverMs })).toEqual({
      rewritten: 30,
      unreadable: [],
    });
    expect(await contents(await unlockStore(store, key(1)))).toEqual(rows);
    await rekeyStore({ store, from: key(1), to: undefined, takeOverMs });
    expect(await contents(store)).toEqual(rows);
    await store.close();
    await place.remove();
  });
});

/** Dies at its commit number `fails`, and is dead from then on. */
function dyingStore(store: Store, fails: number): Store {
  let commits = 0;
  return {
    ...bound(store),
    commit: async (change) => {
      if (commits++ >= fails) throw new Error("killed");
      return store.commit(change);
    },
  };
}

function bound(store: Store): Store {
  return {
    description: store.description,
    get: store.get.bind(store),
    commit: store.commit.bind(store),
    keys: store.keys.bind(store),
    close: store.close.bind(store),
  };
}
