import { expect, it } from "vitest";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { storeContract } from "../../support/store-contract.ts";
import { memoryPlace } from "../../support/store-places.ts";

storeContract("A store in memory", memoryPlace);

it("A store in memory says that it is not durable", () => {
  expect(openMemoryStore().description).toContain("not durable");
});

it("A store in memory names the key whose value is damaged, and never takes it for absent", async () => {
  const map = new Map([["keyv:a", "not what Keyv writes"]]);
  await expect(openMemoryStore(map).get(["a"])).rejects.toMatchObject({ code: "STORE_CORRUPT", fields: { key: "a" } });
});
