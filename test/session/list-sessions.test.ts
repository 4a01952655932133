import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { controlKey } from "../../src/session/session-record.ts";
import { ada, bob, input, runOf, SessionRoom } from "../support/session-room.ts";
import { contents, put } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const hour = 3_600_000;
const start = Date.parse("2026-05-01T10:30:00Z");

describe.each(everyPlace)("Sessions in $kind are listed", ({ makePlace }) => {
  let room: SessionRoom;
  const ids = async (options = {}): Promise<string[]> =>
    (await room.sessions.list(options)).map(({ sessionId }) => sessionId);

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    room = await SessionRoom.open(makePlace);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await room.close();
  });

  it("all, in the order of their ids, with the hour in which something was last said", async () => {
    await room.turn("b", input("1"));
    vi.setSystemTime(start + 2 * hour);
    await room.turn("a", input("2"));
    await room.turn("a-2", input("3"));
    await room.sessions.create({ sessionId: "silent" });
    expect(await room.sessions.list()).toEqual([
      { sessionId: "a", active: "2026-05-01T12:00:00.000Z" },
      { sessionId: "a-2", active: "2026-05-01T12:00:00.000Z" },
      { sessionId: "b", active: "2026-05-01T10:00:00.000Z" },
      { sessionId: "silent" },
    ]);
    expect(await ids({ after: "a" })).toEqual(["a-2", "b", "silent"]);
    expect(await ids({ after: "a", limit: 1 })).toEqual(["a-2"]);
    expect(await ids({ limit: 0 })).toEqual([]);
    expect(await ids({ after: "zzz" })).toEqual([]);
  });

  it("by where they lie, by who spoke, by both, and by when", async () => {
    await room.turn("one", input("1", { places: ["discord:7:guild:1", "a/b ä"] }));
    await room.turn("two", input("2", { author: bob, places: ["discord:7:guild:1"] }));
    await room.turn("three", input("3", { places: ["discord:7:guild:12"] }));
    expect(await ids({ place: "discord:7:guild:1" })).toEqual(["one", "two"]);
    expect(await ids({ place: "a/b ä" })).toEqual(["one"]);
    expect(await ids({ place: "discord:7:guild" })).toEqual([]);
    expect(await ids({ user: "ada" })).toEqual(["one", "three"]);
    expect(await ids({ user: "ada", place: "discord:7:guild:1" })).toEqual(["one"]);
    expect(await ids({ user: "nobody" })).toEqual([]);

    vi.setSystemTime(start + 3 * hour);
    await room.turn("two", input("4", { author: bob }));
    const later = { activeSince: new Date(start + 1 * hour) };
    expect(await ids(later)).toEqual(["two"]);
    expect(await room.sessions.list({ ...later, place: "discord:7:guild:1" })).toEqual([
      { sessionId: "two", active: "2026-05-01T13:00:00.000Z" },
    ]);
    expect(await ids({ ...later, user: "ada" })).toEqual([]);
    expect(await ids({ activeSince: new Date(start), user: "ada" })).toEqual(["one", "three"]);
  });

  it("by those whose words wait or came along as context, too", async () => {
    const run = runOf(await room.sessions.take("s", input("1"), { create: true }));
    const context = [{ id: "0", author: { id: "cid", name: "Cid" }, text: "before" }];
    await room.sessions.take("s", input("2", { author: bob, context }));
    for (const user of ["ada", "bob", "cid"]) expect(await ids({ user })).toEqual(["s"]);
    await room.sessions.finish(run);
    for (const user of ["ada", "bob", "cid"]) expect(await ids({ user })).toEqual(["s"]);
  });

  it("however many there are, a page at a time", async () => {
    const all = Array.from({ length: 230 }, (_, index) => `s${1000 + index}`);
    for (const [index, id] of all.entries()) {
      await room.sessions.take(id, input(`${index}`, { places: ["here", ...(index % 50 === 0 ? ["rare"] : [])] }), {
        create: true,
      });
    }
    const pages: string[][] = [];
    for (let after: string | undefined; pages.at(-1)?.length !== 0; after = pages.at(-1)?.at(-1)) {
      pages.push(await ids({ place: "here", limit: 100, ...(after !== undefined && { after }) }));
    }
    expect(pages.map((page) => page.length)).toEqual([100, 100, 30, 0]);
    expect(pages.flat()).toEqual(all);
    expect(await ids({ place: "here", user: "ada", limit: 150 })).toEqual(all.slice(0, 150));
    vi.setSystemTime(start + hour);
    await room.sessions.take("s1220", input("new"));
    expect(await ids({ activeSince: new Date(start + hour), limit: 1 })).toEqual(["s1220"]);
    expect(await ids({ place: "rare" })).toEqual(["s1000", "s1050", "s1100", "s1150", "s1200"]);
  });

  it("where they moved to: the 8 places that were named last are kept", async () => {
    for (let index = 0; index < 10; index++)
      await room.turn("s", input(`${index}`, { places: [`p${index}`, "server"] }));
    expect(await ids({ place: "p9" })).toEqual(["s"]);
    expect(await ids({ place: "server" })).toEqual(["s"]);
    expect([await ids({ place: "p3" }), await ids({ place: "p2" })]).toEqual([["s"], []]);
    expect((await room.keys("s")).filter((key) => key.startsWith("place/"))).toHaveLength(8);
  });

  it("in at most 8 places of 1 to 200 characters; what is otherwise is refused, and nothing is stored", async () => {
    const wrong: [unknown, string][] = [
      ["here", "input.places"],
      [["here", ""], "input.places[1]"],
      [["x".repeat(201)], "input.places[0]"],
      [Array.from({ length: 9 }, (_, index) => `${index}`), "input.places"],
    ];
    for (const [places, path] of wrong) {
      await expect(
        room.sessions.take("s", input("1", { places: places as string[] }), { create: true }),
      ).rejects.toMatchObject({ code: "INPUT_INVALID", fields: { path } });
    }
    expect(await room.keys("s")).toEqual([]);
    const places = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(200));
    await room.turn("s", input("1", { places }));
    for (const place of places) expect(await ids({ place })).toEqual(["s"]);
  });

  it("until they are deleted; reset, they still lie where they lie, but nobody is known to have spoken", async () => {
    await room.turn("s", input("1", { places: ["here"] }));
    await room.sessions.reset("s");
    expect(await room.sessions.list({ place: "here" })).toEqual([
      { sessionId: "s", active: "2026-05-01T10:00:00.000Z" },
    ]);
    expect(await ids({ user: ada.id })).toEqual([]);
    await room.turn("s", input("2"));
    expect(await ids({ user: ada.id, place: "here" })).toEqual(["s"]);
    await room.sessions.delete("s");
    expect(await ids({ place: "here" })).toEqual([]);
    expect(await ids({ user: ada.id })).toEqual([]);
    expect(await ids()).toEqual([]);
  });

  it("also if their record is damaged or newer; only their hour is then not known", async () => {
    for (const id of ["a", "b", "c"]) await room.turn(id, input(id, { places: ["here"] }));
    const control = JSON.parse((await contents(room.store))[controlKey("b")] as string);
    await put(room.store, controlKey("b"), JSON.stringify({ ...control, format: 99 }));
    await room.place.spoil(controlKey("a"));
    const active = "2026-05-01T10:00:00.000Z";
    expect(await room.sessions.list()).toEqual([{ sessionId: "a" }, { sessionId: "b" }, { sessionId: "c", active }]);
    expect(await ids({ activeSince: new Date(0) })).toEqual(["c"]);
    await room.place.spoil("place/here/a");
    expect(await room.sessions.list({ place: "here", limit: 2 })).toEqual([
      { sessionId: "a" },
      { sessionId: "b", active },
    ]);
  });

  it("never by who has closed them", async () => {
    await room.sessions.close();
    await expect(room.sessions.list()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
