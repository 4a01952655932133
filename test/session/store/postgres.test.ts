import { describe } from "vitest";
import { storeContract } from "../../support/store-contract.ts";
import { postgresPlace } from "../../support/store-places.ts";
import { postgresServer } from "../../support/test-servers.ts";

describe.skipIf(postgresServer.missing)(`PostgreSQL ${postgresServer.missing ?? ""}`, () => {
  storeContract("A store in PostgreSQL", postgresPlace);
});
