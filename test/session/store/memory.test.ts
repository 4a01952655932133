import { expect, it } from "vitest";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { storeContract } from "../../support/store-contract.ts";

storeContract("A store in memory", async () => {
  const map = new Map<string, string>();
  return { open: async () => openMemoryStore(map), remove: async () => map.clear() };
});

it("A store in memory says that it is not durable", () => {
  expect(openMemoryStore().description).toContain("not durable");
});

it("A store in memory names the key whose value is damaged, and never takes it for absent", async () => {
  const map = new Map([["keyv:a", "not what Keyv writes"]]);
  await expect(openMemoryStore(map).get(["a"])).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { key: "a" } });
});
