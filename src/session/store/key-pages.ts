import type { Store } from "./store.ts";

/** All keys that begin with `prefix`, behind `after`, however many there are: one page of them at a time. */
export async function* keyPages(store: Store, prefix: string, after = ""): AsyncGenerator<string[]> {
  for (let page = await store.keys(prefix, { after }); page.length > 0; ) {
    yield page;
    page = await store.keys(prefix, { after: page.at(-1) as string });
  }
}
