import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasCode } from "../../src/errors.ts";
import type { Commit, Store } from "../../src/session/store/store.ts";

/** Where a store keeps its data, so that it can be opened more than once, also at the same time. */
export interface StorePlace {
  /** By which another process opens it; `undefined`: no other process can. */
  readonly setting?: string;
  open(): Promise<Store>;
  /** Makes the value of `key` unreadable: neither ours nor Keyv's. */
  spoil(key: string): Promise<void>;
  remove(): Promise<void>;
}

/** What every store must do. An implementation runs it in three lines. */
export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`${name} keeps the store's contract`, () => {
    let place: StorePlace;
    let store: Store;
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const another = await place.open();
      opened.push(another);
      return another;
    };

    beforeEach(async () => {
      place = await makePlace();
      store = await open();
    });
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close();
      await place.remove();
    });

    describe("values", () => {
      const odd: Record<string, string> = {
        "an empty string": "",
        "a leading colon": ":base64:aGk=",
        "colons only": "::",
        "odd Unicode": "👩‍👩‍👧 e\u0301 \u202e מזל \u2028 \ufeff \u{10ffff}",
        "a NUL and control characters": "a\u0000b\u0001\u001f\u007f\r\n\t",
        "lone surrogates": "\ud800 and \udfff",
        "a key that is a prototype's": '{"__proto__":{"polluted":true},"constructor":1}',
        "quotes and backslashes": `'";--\\ \\u0000 %_`,
        "what looks like Keyv's own text": '{"value":"x","expires":1}',
        "a number": "1e400",
        "the word null": "null",
      };
      for (const [what, value] of Object.entries(odd)) {
        it(`come back the same: ${what}`, async () => {
          await put(store, "key", value);
          expect((await store.get(["key"]))[0]?.value).toBe(value);
          expect((await (await open()).get(["key"]))[0]?.value).toBe(value);
        });
      }

      it("that cannot be read are there, with a version to replace or remove them by, beside the others", async () => {
        await write(store, { key: "a", put: { a: "1", b: "2", c: "3" } });
        await place.spoil("a");
        await place.spoil("b");
        const [a, b, c, none] = await store.get(["a", "b", "c", "none"]);
        expect(a).toEqual({ value: undefined, version: expect.anything() });
        expect(b).toEqual({ value: undefined, version: expect.anything() });
        expect([c?.value, none]).toEqual(["3", undefined]);
        expect(await write(store, { key: "a", put: { a: "over" } })).toBe(false);
        expect(await write(store, { key: "a", was: "another", put: { a: "over" } })).toBe(false);
        expect(await write(store, { key: "a", was: a?.version, put: { a: "4" }, remove: ["b"] })).toBe(true);
        expect(await contents(store)).toEqual({ a: "4", c: "3" });
      });

      it("come back the same: 2 MB", async () => {
        const value = "0123456789abcdéf".repeat(131_072);
        await put(store, "key", value);
        expect((await store.get(["key"]))[0]?.value === value).toBe(true);
      });

      it("come back the same, whatever string it is", async () => {
        const anyString = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 });
        await fc.assert(
          fc.asyncProperty(anyString, async (value) => {
            await put(store, "key", value);
            expect((await store.get(["key"]))[0]?.value).toBe(value);
          }),
          { numRuns: 60 },
        );
      });

      it("are read in the order asked for, each as often as asked for, absent ones as undefined", async () => {
        await write(store, { key: "a", put: { a: "1", b: "2" } });
        const read = await store.get(["b", "none", "a", "b"]);
        expect(read.map((each) => each?.value)).toEqual(["2", undefined, "1", "2"]);
        expect(await store.get([])).toEqual([]);
      });
    });

    describe("commits", () => {
      it("write all keys or, when the guard moved, none", async () => {
        await write(store, { key: "guard", put: { guard: "1", row: "old" } });
        const [guard] = await store.get(["guard"]);
        expect(await write(store, { key: "guard", was: guard?.version, put: { guard: "2", row: "new" } })).toBe(true);
        expect(
          await write(store, { key: "guard", was: guard?.version, put: { guard: "3", row: "lost", more: "lost" } }),
        ).toBe(false);
        expect(await contents(store)).toEqual({ guard: "2", row: "new" });
      });

      it("with an absent guard go through once", async () => {
        expect(await write(store, { key: "guard", put: { guard: "1" } })).toBe(true);
        expect(await write(store, { key: "guard", put: { guard: "2" } })).toBe(false);
        expect(await write(store, { key: "other", was: "something", put: { other: "1" } })).toBe(false);
        expect(await contents(store)).toEqual({ guard: "1" });
      });

      it("need not move their guard", async () => {
        await write(store, { key: "guard", put: { guard: "1" } });
        const [guard] = await store.get(["guard"]);
        expect(await write(store, { key: "guard", was: guard?.version, put: { row: "x" } })).toBe(true);
        expect(await write(store, { key: "absent", put: { row: "y" } })).toBe(true);
        expect(await contents(store)).toEqual({ guard: "1", row: "y" });
      });

      it("remove keys together with what they write, absent ones too", async () => {
        await write(store, { key: "a", put: { a: "1", b: "2", c: "3" } });
        const [a] = await store.get(["a"]);
        expect(await write(store, { key: "a", was: a?.version, put: { a: "4" }, remove: ["b", "never"] })).toBe(true);
        expect(await contents(store)).toEqual({ a: "4", c: "3" });
      });

      it("remove nothing when the guard moved", async () => {
        await write(store, { key: "a", put: { a: "1", b: "2" } });
        expect(await write(store, { key: "a", was: "moved", put: {}, remove: ["a", "b"] })).toBe(false);
        expect(await contents(store)).toEqual({ a: "1", b: "2" });
      });

      it("may remove their guard, which is absent then and can be made again", async () => {
        await write(store, { key: "a", put: { a: "1", b: "2" }, forget: true });
        const [a] = await store.get(["a"]);
        expect(await write(store, { key: "a", was: a?.version, remove: ["a", "b"], forget: true })).toBe(true);
        expect(await contents(store)).toEqual({});
        expect(await write(store, { key: "a", was: a?.version, put: { a: "again" } })).toBe(false);
        expect(await write(store, { key: "a", put: { a: "again" } })).toBe(true);
        expect(await contents(store)).toEqual({ a: "again" });
      });

      it("of many rows are whole", async () => {
        const rows = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`row/${index}`, `${index}`]));
        await write(store, { key: "guard", put: { guard: "1", ...rows } });
        const [guard, first, last] = await store.get(["guard", "row/0", "row/8999"]);
        expect([first?.value, last?.value]).toEqual(["0", "8999"]);
        await write(store, { key: "guard", was: guard?.version, put: { guard: "2" }, remove: Object.keys(rows) });
        expect(await contents(store)).toEqual({ guard: "2" });
      });

      it("of many rows are whole or absent, beside one whose guard moved", async () => {
        const rows = (name: string) =>
          Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`${name}/${index}`, `${index}`]));
        const made = await Promise.all([
          write(store, { key: "one", put: { one: "1", ...rows("row") } }),
          write(store, { key: "two", was: "moved", put: { two: "1", ...rows("other") } }),
        ]);
        expect(made).toEqual([true, false]);
        expect(await contents(store)).toEqual({ one: "1", ...rows("row") });
        const [one] = await store.get(["one"]);
        const removed = await Promise.all([
          write(store, { key: "one", was: one?.version, remove: ["one", ...Object.keys(rows("row"))] }),
          write(store, { key: "two", was: "moved", put: { two: "1" } }),
        ]);
        expect(removed).toEqual([true, false]);
        expect(await contents(store)).toEqual({});
      });

      it("that are none are refused, and nothing is written", async () => {
        const wrong: Commit[] = [
          { key: "a", was: undefined, put: new Map([["a", Symbol("x") as unknown as string]]) },
          { key: "a", was: undefined, put: new Map([["a", 1 as unknown as string]]) },
          { key: "a", was: undefined, put: new Map([["a", undefined as unknown as string]]) },
          { key: "a", was: undefined, put: new Map([["a", "1"]]), remove: ["a"] },
          { key: "a", was: undefined, put: new Map() },
          { key: "", was: undefined, put: new Map([["a", "1"]]) },
          {
            key: "a",
            was: undefined,
            put: new Map([
              ["a", "1"],
              ["ä", "1"],
            ]),
          },
          { key: "a", was: undefined, put: new Map([["a", "1"]]), remove: ["b c"] },
          { key: "a", was: undefined, put: new Map([["a".repeat(241), "1"]]) },
        ];
        for (const commit of wrong) await expect(store.commit(commit)).rejects.toMatchObject({ code: "UNEXPECTED" });
        expect(await contents(store)).toEqual({});
      });

      it("on many guards at once all go through, on one guard exactly one", async () => {
        const many = Array.from({ length: 200 }, (_, index) =>
          write(store, { key: `g${index}`, put: { [`g${index}`]: "1" } }),
        );
        expect((await Promise.all(many)).every(Boolean)).toBe(true);
        const one = Array.from({ length: 50 }, (_, index) => write(store, { key: "one", put: { one: `${index}` } }));
        expect((await Promise.all(one)).filter(Boolean)).toHaveLength(1);
      });

      it("that are waiting together cannot slip past one another's guards", async () => {
        // Each one's row is another's guard: whichever comes first, the others must see it.
        const [first, second, third] = await Promise.all([
          write(store, { key: "a", put: { a: "1", b: "from a" } }),
          write(store, { key: "b", put: { b: "from b", c: "from b" } }),
          write(store, { key: "c", put: { c: "from c" } }),
        ]);
        const seen = await contents(store);
        expect(first || second || third).toBe(true);
        if (first && second) expect(seen["b"]).toBe("from a");
        if (second && third) expect(seen["c"]).toBe("from b");
        expect(Object.values(seen).filter((value) => value === "from b").length).toBe(second ? 2 : 0);
      });

      it("equal a plain map, whatever their order", async () => {
        const keys = ["a", "b", "c", "d/1", "d/2"];
        const commit = fc.record({
          key: fc.constantFrom(...keys),
          stale: fc.boolean(),
          put: fc.dictionary(fc.constantFrom(...keys), fc.string({ maxLength: 5 }), { minKeys: 1 }),
          remove: fc.subarray(keys),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(commit, { maxLength: 12 }), async (commits) => {
            const all = await contents(store);
            const [x] = await store.get(["x"]);
            await write(store, {
              key: "x",
              was: x?.version,
              put: { x: `${x?.value}+` },
              remove: Object.keys(all).filter((key) => key !== "x"),
            });
            const model = new Map<string, string>();
            for (const { key, stale, put, remove } of commits) {
              const gone = remove.filter((each) => !(each in put));
              const version = (await store.get([key]))[0]?.version;
              const was = stale ? `${version}?` : version;
              expect(await write(store, { key, was, put, remove: gone })).toBe(!stale);
              if (stale) continue;
              for (const [each, value] of Object.entries(put)) model.set(each, value);
              for (const each of gone) model.delete(each);
            }
            const { x: _x, ...left } = await contents(store);
            expect(left).toEqual(Object.fromEntries(model));
          }),
          { numRuns: 25 },
        );
      });
    });

    describe("keys", () => {
      const all = ["a/1", "a/10", "a/2", "aX", "a_1", "a%1", "A/1", "a", "a/", "b/1"];
      beforeEach(() => write(store, { key: "a", put: Object.fromEntries(all.map((key) => [key, "x"])) }));

      it("are listed by prefix, in the order of their characters, which are all taken literally", async () => {
        expect(await store.keys("a/")).toEqual(["a/", "a/1", "a/10", "a/2"]);
        expect(await store.keys("a_")).toEqual(["a_1"]);
        expect(await store.keys("a%")).toEqual(["a%1"]);
        expect(await store.keys("A")).toEqual(["A/1"]);
        expect(await store.keys("c")).toEqual([]);
        expect(await store.keys("")).toEqual([...all].sort());
      });

      it("are listed behind a key, and so many at most", async () => {
        expect(await store.keys("a/", { after: "a/1" })).toEqual(["a/10", "a/2"]);
        expect(await store.keys("a/", { after: "a/15" })).toEqual(["a/2"]);
        expect(await store.keys("a/", { after: "A", limit: 2 })).toEqual(["a/", "a/1"]);
        expect(await store.keys("a/", { after: "b" })).toEqual([]);
        expect(await store.keys("", { limit: 3 })).toEqual([...all].sort().slice(0, 3));
      });

      it("are at most 1000 unless asked otherwise", async () => {
        const rows = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`many/${index}`, "x"]));
        await write(store, { key: "many", put: rows });
        expect(await store.keys("many/")).toHaveLength(1000);
        expect(await store.keys("many/", { limit: 2000 })).toHaveLength(1001);
      });
    });

    describe("two connections", () => {
      it("see each other's commits, and a guard moved by one stops the other", async () => {
        const other = await open();
        await write(store, { key: "a", put: { a: "1" } });
        const [seen] = await other.get(["a"]);
        expect(seen?.value).toBe("1");
        expect(await write(store, { key: "a", was: seen?.version, put: { a: "2" } })).toBe(true);
        expect(await write(other, { key: "a", was: seen?.version, put: { a: "3" } })).toBe(false);
        expect((await other.get(["a"]))[0]?.value).toBe("2");
      });

      it("keep 240 of 240 events of contended writers", { timeout: 90_000 }, async () => {
        const stores = [store, await open()];
        const names = Array.from({ length: 8 }, (_, index) => `w${index}`);
        await Promise.all(names.map((name, index) => contend(stores[index % 2] as Store, name, 30)));
        await expectAll(names, 30);
      });

      it("of two processes keep 240 of 240 events of contended writers", { timeout: 90_000 }, async ({ skip }) => {
        const { setting } = place;
        if (!setting) return skip("no other process can open it");
        const children = ["p", "q"].map((name) =>
          fork(resolve(import.meta.dirname, "contending-writer.ts"), [setting, name, "60"], {
            execArgv: ["--import", "tsx"],
          }),
        );
        const ended = Promise.all(children.map((child) => once(child, "exit")));
        await Promise.all(children.map((child) => once(child, "message")));
        for (const child of children) child.send("go");
        expect(await ended).toEqual(children.map(() => [0, null]));
        await expectAll(["pa", "pb", "qa", "qb"], 60);
      });

      /** Each writer's events are there once, in its order. */
      async function expectAll(names: readonly string[], each: number): Promise<void> {
        const events = Object.entries(await contents(store)).filter(([key]) => key.startsWith("event/"));
        const inOrder = events.sort(([a], [b]) => Number(a.slice(6)) - Number(b.slice(6))).map(([, value]) => value);
        expect(inOrder).toHaveLength(names.length * each);
        for (const name of names) {
          const expected = Array.from({ length: each }, (_, index) => `${name}.${index}`);
          expect(inOrder.filter((value) => value.startsWith(`${name}.`))).toEqual(expected);
        }
      }

      it("never show half a commit to a reader", async () => {
        const reader = await open();
        let writing = true;
        const write50 = async () => {
          let was: string | undefined;
          for (let index = 0; index < 50; index++) {
            await write(store, { key: "a", was, put: { a: `${index}`, b: `${index}`, c: `${index}` } });
            was = (await store.get(["a"]))[0]?.version;
          }
          writing = false;
        };
        const read = async () => {
          while (writing) {
            const [a, b, c] = await reader.get(["a", "b", "c"]);
            expect([b?.value, c?.value]).toEqual([a?.value, a?.value]);
          }
        };
        await Promise.all([write50(), read()]);
      });
    });

    describe("closing", () => {
      it("lets what was begun end, and keeps it for who opens again", async () => {
        const begun = Array.from({ length: 20 }, (_, index) =>
          write(store, { key: `k${index}`, put: { [`k${index}`]: "1" } }),
        );
        const reading = store.get(["k0"]);
        await store.close();
        expect(await Promise.all(begun)).toEqual(begun.map(() => true));
        await reading;
        expect(await (await open()).keys("k")).toHaveLength(20);
      });

      it("makes every later call a typed error, and may be repeated", async () => {
        await Promise.all([store.close(), store.close()]);
        await store.close();
        for (const call of [
          () => store.get(["a"]),
          () => store.keys(""),
          () => write(store, { key: "a", put: { a: "1" } }),
        ]) {
          await expect(call()).rejects.toSatisfy((error) => hasCode(error, "STORE_CLOSED"));
        }
      });
    });

    it("says what it is and where", () => {
      expect(store.description).toMatch(/\w/);
    });
  });
}

interface Written {
  key: string;
  was?: string | undefined;
  put?: Record<string, string>;
  remove?: string[];
  forget?: boolean;
}

export async function write(store: Store, { put: rows = {}, was, ...rest }: Written): Promise<boolean> {
  return (await store.commit({ ...rest, was, put: new Map(Object.entries(rows)) })) !== undefined;
}

/** Adds so many events under one guard, each as often as it takes. */
export async function contend(store: Store, name: string, events: number): Promise<void> {
  for (let index = 0; index < events; index++) {
    for (;;) {
      const [guard] = await store.get(["count"]);
      const count = Number(guard?.value ?? 0);
      const rows = { count: `${count + 1}`, [`event/${count}`]: `${name}.${index}` };
      if (await write(store, { key: "count", was: guard?.version, put: rows })) break;
    }
  }
}

export async function put(store: Store, key: string, value: string): Promise<void> {
  const [before] = await store.get([key]);
  expect(await write(store, { key, was: before?.version, put: { [key]: value } })).toBe(true);
}

export async function contents(store: Store): Promise<Record<string, string>> {
  const keys = await store.keys("", { limit: 100_000 });
  const values = await store.get(keys);
  return Object.fromEntries(keys.map((key, index) => [key, values[index]?.value ?? "(gone meanwhile)"]));
}
