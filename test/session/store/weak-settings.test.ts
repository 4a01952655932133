import { describe, expect, it } from "vitest";
import { weakPostgresSettings, weakRedisSettings } from "../../../src/session/store/weak-settings.ts";

describe("Settings that lose what was confirmed are warned of, with what to do", () => {
  const strong = { fsync: "on", synchronous_commit: "on", full_page_writes: "on", persistence: "p" };
  const durable = { appendonly: "yes", appendfsync: "always", "maxmemory-policy": "noeviction" };

  it("of PostgreSQL", () => {
    expect(weakPostgresSettings(strong)).toEqual([]);
    expect(weakPostgresSettings({ ...strong, synchronous_commit: "remote_apply" })).toEqual([]);
    expect(weakPostgresSettings({ ...strong, fsync: "off" })).toEqual([expect.stringContaining("set fsync=on")]);
    expect(weakPostgresSettings({ ...strong, synchronous_commit: "off" })).toEqual([
      expect.stringContaining("set synchronous_commit=on"),
    ]);
    expect(weakPostgresSettings({ ...strong, full_page_writes: "off" })).toEqual([
      expect.stringContaining("set full_page_writes=on"),
    ]);
    expect(weakPostgresSettings({ ...strong, persistence: "u" })).toEqual([expect.stringContaining("SET LOGGED")]);
  });

  it("of Redis", () => {
    expect(weakRedisSettings(durable)).toEqual([]);
    expect(weakRedisSettings({ ...durable, appendonly: "no", appendfsync: "everysec" })).toEqual([
      expect.stringContaining("set appendonly yes and appendfsync always"),
    ]);
    expect(weakRedisSettings({ ...durable, appendfsync: "everysec" })).toEqual([
      expect.stringContaining("set appendfsync always"),
    ]);
    expect(weakRedisSettings({ ...durable, "maxmemory-policy": "allkeys-lru" })).toEqual([
      expect.stringContaining("set maxmemory-policy noeviction"),
    ]);
  });

  it("of Redis where it tells only some of them, or none", () => {
    expect(weakRedisSettings({ appendonly: "yes", "maxmemory-policy": "noeviction" })).toEqual([]);
    expect(weakRedisSettings(undefined)).toEqual([expect.stringContaining("make sure of appendonly yes")]);
  });
});
