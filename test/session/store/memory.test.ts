import { expect, it } from "vitest";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { contents, put, storeContract } from "../../support/store-contract.ts";
import { memoryPlace } from "../../support/store-places.ts";

storeContract("A store in memory", memoryPlace);

it("A store in memory says that it is not durable", () => {
  expect(openMemoryStore().description).toContain("not durable");
});

it("A store in memory sees what somebody else does to its map", async () => {
  const map = new Map<string, string>();
  const store = openMemoryStore(map);
  await put(store, "a", "1");
  expect(await store.keys("")).toEqual(["a"]);
  map.clear();
  map.set("keyv:b", '{"value":"2"}');
  expect(await contents(store)).toEqual({ b: "2" });
});
