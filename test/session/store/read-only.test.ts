import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openStore } from "../../../src/session/store/open-store.ts";
import type { StorePlace } from "../../support/store-contract.ts";
import { contents, put } from "../../support/store-contract.ts";
import { postgresPlace, redisPlace, sqlitePlace } from "../../support/store-places.ts";
import { postgresServer, redisServer } from "../../support/test-servers.ts";

type Place = StorePlace & { readonly setting: string };
const opened: Place[] = [];

async function placeOf<P extends Place>(makePlace: () => Promise<P>): Promise<P> {
  const place = await makePlace();
  opened.push(place);
  return place;
}

afterEach(async () => {
  for (const place of opened.splice(0)) await place.remove();
});

const kinds: readonly (readonly [string, () => Promise<Place>])[] = [
  ["SQLite", sqlitePlace],
  ...(postgresServer.missing ? [] : ([["PostgreSQL", postgresPlace]] as const)),
  ...(redisServer.missing ? [] : ([["Redis", redisPlace]] as const)),
];

describe.each(kinds)("%s that is only looked at", (_kind, makePlace) => {
  it("gives what is there, beside somebody who writes", async () => {
    const place = await placeOf(makePlace);
    const writer = await place.open();
    await put(writer, "a", "1");
    const reader = await openStore(place.setting, { readOnly: true });
    expect(await contents(reader)).toEqual({ a: "1" });
    await put(writer, "b", "2");
    expect(await contents(reader)).toEqual({ a: "1", b: "2" });
    await expect(put(reader, "c", "3")).rejects.toMatchObject({ code: "UNEXPECTED" });
    await reader.close();
    expect(await contents(writer)).toEqual({ a: "1", b: "2" });
    await writer.close();
  });
});

describe("A SQLite file that is only looked at", () => {
  it("keeps its mode, and gets no file beside it that stays", async () => {
    const place = await placeOf(sqlitePlace);
    const writer = await place.open();
    await put(writer, "a", "1");
    await writer.close();
    await chmod(place.path, 0o644);
    const before = await stat(place.path);
    const reader = await openStore(place.setting, { readOnly: true });
    expect(await contents(reader)).toEqual({ a: "1" });
    await reader.close();
    const { mode, mtimeMs, size } = await stat(place.path);
    expect({ mode, mtimeMs, size }).toEqual({ mode: before.mode, mtimeMs: before.mtimeMs, size: before.size });
    expect(await readdir(dirname(place.path))).toEqual(["sessions.sqlite"]);
  });

  it("is not made, nor is its folder", async () => {
    const place = await placeOf(sqlitePlace);
    const folder = join(dirname(place.path), "none");
    await expect(openStore(`sqlite:${folder}/s.sqlite`, { readOnly: true })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("no such"),
    });
    await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
    await mkdir(folder);
    await expect(openStore(`sqlite:${folder}/s.sqlite`, { readOnly: true })).rejects.toMatchObject({
      message: expect.stringContaining("there is no such file"),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it("and is empty is not encrypted by the way", async () => {
    const place = await placeOf(sqlitePlace);
    await (await place.open()).close();
    const key = new Uint8Array(32).fill(7);
    const reader = await openStore(place.setting, { readOnly: true, key });
    expect(await contents(reader)).toEqual({});
    await reader.close();
    const writer = await place.open();
    expect(await contents(writer)).toEqual({});
    await writer.close();
  });
});
