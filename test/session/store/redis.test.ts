import { describe } from "vitest";
import { storeContract } from "../../support/store-contract.ts";
import { redisPlace } from "../../support/store-places.ts";
import { redisServer } from "../../support/test-servers.ts";

describe.skipIf(redisServer.missing)(`Redis ${redisServer.missing ?? ""}`, () => {
  storeContract("A store in Redis", redisPlace);
});
