import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEncrypted, ValueCipher } from "../../../src/session/store/value-cipher.ts";

const anyString = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 });
const key = (seed: number) => new Uint8Array(32).fill(seed);

describe("An encrypted value", () => {
  const cipher = new ValueCipher(key(1));

  it("comes back the same, whatever string it is, under its name and with its key alone", () => {
    fc.assert(
      fc.property(anyString, (text) => {
        const encrypted = cipher.encrypt("control/a", text);
        expect(isEncrypted(encrypted)).toBe(true);
        expect(new ValueCipher(key(1)).decrypt("control/a", encrypted)).toBe(text);
        expect(cipher.decrypt("control/b", encrypted)).toBeUndefined();
        expect(new ValueCipher(key(2)).decrypt("control/a", encrypted)).toBeUndefined();
      }),
    );
  });

  it("shows nothing of its text, and is another one each time", () => {
    const [one, two] = [cipher.encrypt("a", "Xylophon"), cipher.encrypt("a", "Xylophon")];
    expect(one).not.toBe(two);
    for (const each of [one, two]) {
      expect(Buffer.from(each.split(":")[2] as string, "base64").toString("latin1")).not.toContain("Xylophon");
    }
  });

  it("of which any character is changed, or some are missing, is refused", () => {
    // As many bytes as base64 writes without a rest, in which there would be bits that mean nothing.
    const encrypted = cipher.encrypt("a", "some words");
    expect(encrypted).not.toContain("=");
    for (let at = 0; at < encrypted.length; at++) {
      const other = encrypted[at] === "A" ? "B" : "A";
      const changed = encrypted.slice(0, at) + other + encrypted.slice(at + 1);
      expect(cipher.decrypt("a", changed), `at ${at}`).toBeUndefined();
      expect(cipher.decrypt("a", encrypted.slice(0, at))).toBeUndefined();
    }
    for (const wrong of ["", "plain", '{"format":1}', "tk1:", "tk1:0000000000000000:"]) {
      expect(cipher.decrypt("a", wrong)).toBeUndefined();
      expect(isEncrypted(wrong)).toBe(false);
    }
  });
});
