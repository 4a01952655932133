import { KeyvStore } from "./other.ts";
import type { Store } from "./store.ts";

/**
 * Sessions in a Keyv on a `Map`: gone when the process ends. For tests and for trying things out.
 * Stores on the same `map` are like two connections to one database.
 */
export function openMemoryStore(map = new Map<string, string>()): Store {
  return new KeyvStore(map, "memory (not durable: gone when the process ends)");
}
