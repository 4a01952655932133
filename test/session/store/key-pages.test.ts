import { expect, it } from "vitest";
import { keyPages } from "../../../src/session/store/key-pages.ts";
import { openMemoryStore } from "../../../src/session/store/memory.ts";
import { write } from "../../support/store-contract.ts";

it("Pages of keys give each key once, in order, however many pages they take", async () => {
  const store = openMemoryStore();
  const rows = Object.fromEntries(Array.from({ length: 2500 }, (_, index) => [`a/${10_000 + index}`, "x"]));
  await write(store, { key: "a/", put: { ...rows, b: "x", a: "x" } });
  const pages: string[][] = [];
  for await (const page of keyPages(store, "a/1")) pages.push(page);
  expect(pages.map((page) => page.length)).toEqual([1000, 1000, 500]);
  expect(pages.flat()).toEqual(Object.keys(rows));
  expect((await keyPages(store, "a/", "a/12498").next()).value).toEqual(["a/12499"]);
});
