import fc from "fast-check";
import { Keyv } from "keyv";
import { expect, it } from "vitest";
import { keyvText, storedText } from "../../../src/session/store/keyv-text.ts";

it("A stored string is the very text that Keyv writes, and comes back the same from both", async () => {
  const anyString = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        anyString,
        anyString.map((text) => `:${text}`),
      ),
      async (value) => {
        const map = new Map<string, string>();
        const keyv = new Keyv({ store: map });
        await keyv.set("key", value);
        expect(keyvText.deserialize(map.get("keyv:key") as string)).toEqual({ value });
        map.set("keyv:key", keyvText.serialize({ value }));
        expect(await keyv.get("key")).toBe(value);
      },
    ),
  );
});

it("An object that Keyv itself wrote comes back as its JSON text, an expiry or not", async () => {
  const session = {
    sessionId: "s",
    events: [{ role: "user", content: ":colon", more: [":", "::", null, 1.5, true] }, {}],
    state: { "a:b": { deep: "" } },
  };
  for (const ttl of [undefined, 60_000]) {
    const map = new Map<string, string>();
    await new Keyv({ store: map }).set("key", session, ttl);
    const { value } = storedText(map.get("keyv:key"));
    expect(JSON.parse(value as string)).toEqual(session);
  }
});

it("Whatever else stands in a store cannot be read, and has a version", () => {
  for (const cell of ["garbage", "{}", "null", '{"value":5}', '{"value":null}', '{"value":[1]}', '"text"', "", null]) {
    expect(storedText(cell)).toEqual({ value: undefined, version: cell });
  }
});
