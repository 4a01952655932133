import { describe, expect, it } from "vitest";
import { serverAddress } from "../../../src/session/store/server-address.ts";

describe("The address of a server", () => {
  it("is the driver's, but for the namespace; without user and password where it is shown", () => {
    expect(serverAddress("postgres://me:p%40ss@db.example:5433/bots?sslmode=require")).toEqual({
      uri: "postgres://me:p%40ss@db.example:5433/bots?sslmode=require",
      namespace: "keyv",
      place: "db.example:5433/bots",
    });
    expect(serverAddress("postgres://me:p%40ss@db.example/bots?namespace=bot_1&sslmode=require")).toEqual({
      uri: "postgres://me:p%40ss@db.example/bots?sslmode=require",
      namespace: "bot_1",
      place: "db.example/bots, namespace bot_1",
    });
    expect(serverAddress("redis://127.0.0.1")).toMatchObject({ place: "127.0.0.1" });
    expect(serverAddress("redis://127.0.0.1:6380/")).toMatchObject({ place: "127.0.0.1:6380" });
    expect(serverAddress("postgres:///bots?host=/run/pg")).toMatchObject({ place: "/run/pg/bots" });
    expect(serverAddress("postgres://%2Frun%2Fpg/bots")).toMatchObject({ place: "/run/pg/bots" });
    expect(serverAddress("postgres:///bots")).toMatchObject({ place: "localhost/bots" });
  });

  it("that is none, or whose namespace is none, is refused, and shows no password", () => {
    for (const wrong of [
      "postgres://me:hidden@[host/bots",
      "redis://me:hidden@host:99999999",
      "redis://me:hidden@host?namespace=",
      "redis://me:hidden@host?namespace=a:b",
      "redis://me:hidden@host?namespace=fifteen-letters",
      "redis://me:hidden@host/sessions",
      "redis://me:hidden@host/0/1",
      "redis://me:50%hidden@host/0",
      "postgres://me:50%hidden@host/bots",
      "postgres://me:hidden@%zz/bots",
    ]) {
      expect(() => serverAddress(wrong)).toThrow(expect.objectContaining({ code: "STORE_SETTING_INVALID" }));
      expect(() => serverAddress(wrong)).not.toThrow("hidden");
    }
  });

  it("refuses what was meant to be a namespace, and what no driver reads", () => {
    for (const wrong of ["postgres://host/bots?namespce=a", "postgres://host/bots?Namespace=a", "redis://host?db=1"]) {
      expect(() => serverAddress(wrong)).toThrow("did you mean ?namespace=?");
    }
  });
});
