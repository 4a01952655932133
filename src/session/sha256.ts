import { createHash } from "node:crypto";

/** In hex, of a text's UTF-16, so that texts that differ in a lone surrogate differ here, too. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("hex");
}
