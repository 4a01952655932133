import { expect, it } from "vitest";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { storeContract } from "../../support/store-contract.ts";
import { memoryPlace } from "../../support/store-places.ts";

storeContract("A store in memory", memoryPlace);

it("A store in memory says that it is not durable", () => {
  expect(openMemoryStore().description).toContain("not durable");
});
