import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { unlockStore } from "../../../src/session/store/encrypted-store.ts";
import { encryptionKey } from "../../../src/session/store/encryption-record.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { openLockedStore, openStore } from "../../../src/session/store/open-store.ts";
import { contents, put, type StorePlace, storeContract, write } from "../../support/store-contract.ts";
import { sqlitePlace } from "../../support/store-places.ts";

const key = (seed: number) => new Uint8Array(32).fill(seed);

async function encryptedPlace(): Promise<StorePlace> {
  const { setting, ...place } = await sqlitePlace();
  return { ...place, open: () => openStore(setting, { key: key(1) }) };
}

storeContract("An encrypted SQLite file", encryptedPlace);

describe("An encrypted store", () => {
  it("shows nothing of its values on the disk, and says that it is encrypted", async () => {
    const place = await sqlitePlace();
    const store = await openStore(place.setting, { key: key(1) });
    await put(store, "event/a", "Xylophonquartett ".repeat(100));
    await put(store, "event/a", "Xylophonquartett again");
    expect(store.description).toContain("(encrypted)");
    const files = [place.path, `${place.path}-wal`].map((file) => readFile(file, "latin1"));
    expect((await Promise.all(files)).join("")).not.toContain("Xylophon");
    await store.close();
    expect(await readFile(place.path, "latin1")).not.toContain("Xylophon");
    await place.remove();
  });

  it("is refused without its key and with another, and opens again with it", async () => {
    const place = await sqlitePlace();
    const store = await openStore(place.setting, { key: key(1) });
    await put(store, "a", "1");
    await store.close();
    await expect(openStore(place.setting)).rejects.toMatchObject({ code: "STORE_KEY_MISSING" });
    await expect(openStore(place.setting, { key: key(2) })).rejects.toMatchObject({ code: "STORE_KEY_WRONG" });
    const again = await openStore(place.setting, { key: key(1) });
    expect(await contents(again)).toEqual({ a: "1" });
    await again.close();
    await place.remove();
  });

  it("is not made of one that has values already; the refusal tells of the command that does", async () => {
    const map = new Map<string, string>();
    const store = openMemoryStore(map);
    await put(store, "probe/left", "by a kill");
    await unlockStore(openMemoryStore(map), key(1));
    map.delete(`keyv:${encryptionKey}`);
    await put(store, "a", "1");
    await expect(unlockStore(openMemoryStore(map), key(1))).rejects.toMatchObject({
      code: "STORE_NOT_ENCRYPTED",
      message: expect.stringContaining("threadkeeper rekey"),
    });
    expect(await unlockStore(store, undefined)).toBe(store);
  });

  it("opened by many at once for the first time is one store", async () => {
    const map = new Map<string, string>();
    const stores = await Promise.all(Array.from({ length: 5 }, () => unlockStore(openMemoryStore(map), key(1))));
    await put(stores[0] as (typeof stores)[0], "a", "1");
    for (const store of stores) expect(await contents(store)).toEqual({ a: "1" });
  });

  it("never takes a value that does not authenticate for absent, nor one that stood under another name", async () => {
    const map = new Map<string, string>();
    const store = await unlockStore(openMemoryStore(map), key(1));
    await write(store, { key: "a", put: { a: "1", b: "2", c: "3" } });
    map.set("keyv:a", map.get("keyv:b") as string);
    map.set("keyv:c", '{"value":"plain"}');
    const [a, b, c] = await store.get(["a", "b", "c"]);
    expect(b?.value).toBe("2");
    for (const each of [a, c]) expect(each).toEqual({ value: undefined, version: expect.anything() });
    expect(await write(store, { key: "a", put: { a: "no" } })).toBe(false);
    expect(await write(store, { key: "a", was: a?.version, put: { a: "new" } })).toBe(true);
    expect((await store.get(["a"]))[0]?.value).toBe("new");
  });

  it("lists as many keys as were asked for, and not its own", async () => {
    const map = new Map<string, string>();
    const store = await unlockStore(openMemoryStore(map), key(1));
    await write(store, { key: "a", put: { a: "1", "store/a": "2", "store/z": "3", z: "4" } });
    expect(await store.keys("")).toEqual(["a", "store/a", "store/z", "z"]);
    expect(await store.keys("store/", { limit: 2 })).toEqual(["store/a", "store/z"]);
    expect(await store.keys("", { after: "store/a", limit: 1 })).toEqual(["store/z"]);
  });

  it("whose record can't be read, or is a newer program's, is not opened", async () => {
    for (const [record, code] of [
      ["garbage", "STORE_CORRUPT"],
      ["null", "STORE_CORRUPT"],
      ['{"format":1}', "STORE_CORRUPT"],
      ['{"format":1,"now":"x","next":5}', "STORE_CORRUPT"],
      ['{"format":2,"anything":true}', "STORE_FORMAT_NEWER"],
      ['{"format":1,"now":"x"}', "STORE_KEY_WRONG"],
      ['{"format":1,"now":null,"next":"x"}', "STORE_KEY_WRONG"],
    ]) {
      const store = openMemoryStore();
      await put(store, encryptionKey, record as string);
      await expect(unlockStore(store, key(1)), record).rejects.toMatchObject({ code });
    }
    const map = new Map([[`keyv:${encryptionKey}`, "garbage"]]);
    await expect(unlockStore(openMemoryStore(map), undefined)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  it("that is refused is closed again", async () => {
    const place = await sqlitePlace();
    await (await openStore(place.setting, { key: key(1) })).close();
    await expect(openStore(place.setting)).rejects.toMatchObject({ code: "STORE_KEY_MISSING" });
    const raw = await openLockedStore(place.setting);
    expect(await raw.keys("")).toEqual([encryptionKey]);
    await raw.close();
    await place.remove();
  });
});
