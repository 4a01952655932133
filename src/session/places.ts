import type { Store } from "./store/store.ts";

/** The names of the places in which sessions lie, of those that begin with `prefix`: one look into the store for each. */
export async function placesWith(store: Store, prefix: string): Promise<string[]> {
  const places: string[] = [];
  const start = `place/${encodeURIComponent(prefix)}`;
  for (let after = ""; ; ) {
    const [key] = await store.keys(start, { after, limit: 1 });
    if (key === undefined) return places;
    const [, name = ""] = key.split("/");
    if (!name.startsWith("~")) places.push(decodeURIComponent(name));
    // What comes next in order behind all sessions of this place.
    after = `place/${name}0`;
  }
}
