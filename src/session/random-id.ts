import { randomInt } from "node:crypto";

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/** 12 random base-36 characters (62 bits). */
export function randomId(): string {
  return Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]).join("");
}
