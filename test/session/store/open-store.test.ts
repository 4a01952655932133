import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/log.ts";
import { openStore } from "../../../src/session/store/open-store.ts";
import { postgresPlace, redisPlace } from "../../support/store-places.ts";
import { postgresServer, redisServer } from "../../support/test-servers.ts";

describe("The setting of a store", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "threadkeeper-open-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("names a SQLite file by its scheme or by its ending", async () => {
    const settings = [
      "sqlite:DIR/a",
      "sqlite:DIR/b.sqlite",
      "sqlite://DIR/c.sqlite",
      "DIR/d.sqlite",
      "DIR/deep/e.db",
      "sqlite:DIR/with space and ä.db",
    ];
    for (const setting of settings) {
      const store = await openStore(setting.replace("DIR", directory));
      const path = setting.replace(/^sqlite:(\/\/)?/, "").replace("DIR", directory);
      expect(store.description).toBe(`SQLite file ${path}`);
      await store.close();
      expect((await stat(path)).size).toBeGreaterThan(0);
    }
  });

  it("asks for memory by that word only", async () => {
    expect((await openStore("memory:")).description).toContain("memory");
  });

  it("that names nothing is refused with what is allowed, and shows no password", async () => {
    const wrong = [
      "",
      "memory",
      ":memory:",
      "sqlite:",
      "sqlite::memory:",
      "sqlite://:memory:",
      "data/sessions",
      "mysql://me:hidden@host/x.db",
      "file:x.db",
      "sqlite:file:x.db?mode=memory",
    ];
    for (const setting of wrong) {
      const refused = openStore(setting);
      await expect(refused, setting).rejects.toMatchObject({
        code: "STORE_SETTING_INVALID",
        message: expect.stringMatching(/sqlite:<path>.*memory:/),
      });
      await expect(refused).rejects.not.toThrow("hidden");
    }
  });

  it.skipIf(postgresServer.missing)("names a PostgreSQL database by its address", async () => {
    const place = await postgresPlace();
    for (const setting of [place.setting, place.setting.replace("postgres:", "postgresql:")]) {
      const store = await openStore(setting, { log: silentLogger });
      expect(store.description).toMatch(/^PostgreSQL at /);
      await store.close();
    }
    await place.remove();
  });

  it.skipIf(redisServer.missing)("names a Redis or Valkey server by its address", async () => {
    const place = await redisPlace();
    for (const setting of [place.setting, place.setting.replace("redis:", "valkey:")]) {
      const store = await openStore(setting, { log: silentLogger });
      expect(store.description).toMatch(/^Redis at /);
      await store.close();
    }
    await place.remove();
  });

  it("that names a file which cannot be opened is an error of the store", async () => {
    await expect(openStore(`sqlite:${directory}`)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
