import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Names the form of an encrypted value, so that another one can come later. */
const form = "tk1";
const envelope = /^tk1:([0-9a-f]{16}):([A-Za-z0-9+/]+={0,2})$/;
const ivBytes = 12;
const tagBytes = 16;
/** How the text is written as bytes. UTF-8 has no lone surrogates, and a string may. */
const encodings = ["utf8", "utf16le"] as const;

/** Whether a text has the form of an encrypted value, whatever its key. */
export function isEncrypted(text: string): boolean {
  return envelope.test(text);
}

/**
 * Encrypts values with AES-256-GCM: a fresh IV for each, and the name that it is stored under authenticated with it, so
 * that no value can be put in another's place. In front stands which key it was, so that keys can be changed.
 * (https://nvlpubs.nist.gov/nistpubs/legacy/sp/nistspecialpublication800-38d.pdf)
 */
export class ValueCipher {
  readonly #key: Buffer;
  /** Tells one key from another and nothing about it. */
  readonly #id: string;

  /** @param secret 32 bytes */
  constructor(secret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "threadkeeper values", 32));
    this.#id = Buffer.from(hkdfSync("sha256", secret, "", "threadkeeper key id", 8)).toString("hex");
  }

  encrypt(name: string, text: string): string {
    const encoding = /\p{Surrogate}/u.test(text) ? 1 : 0;
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv);
    cipher.setAAD(this.#context(name));
    const parts = [cipher.update(Buffer.of(encoding)), cipher.update(text, encodings[encoding]), cipher.final()];
    return `${form}:${this.#id}:${Buffer.concat([iv, cipher.getAuthTag(), ...parts]).toString("base64")}`;
  }

  /** `undefined`: it was not encrypted with this key, under this name, or is damaged. */
  decrypt(name: string, text: string): string | undefined {
    const [, id, encoded = ""] = envelope.exec(text) ?? [];
    if (id !== this.#id) return undefined;
    const bytes = Buffer.from(encoded, "base64");
    if (bytes.length <= ivBytes + tagBytes) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, ivBytes));
    decipher.setAAD(this.#context(name));
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    try {
      const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return plain.toString(encodings[plain[0] as number], 1);
    } catch {
      return undefined;
    }
  }

  #context(name: string): Buffer {
    return Buffer.from(`${form}:${this.#id}:${name}`);
  }
}
