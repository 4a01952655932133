import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import { rawBytes } from "../support/raw-bytes.ts";
import { all, input, runOf, SessionRoom } from "../support/session-room.ts";
import { contents } from "../support/store-contract.ts";
import { everyPlace } from "../support/store-places.ts";

const large = (text: string): string => `${text} ${"and so on ".repeat(2_000)}`;
/** What is said about the secret, by where it stands. */
const secrets = {
  event: "the-secret-of-an-event",
  large: "the-secret-of-a-large-event",
  context: "the-secret-of-a-context",
  largeContext: "the-secret-of-a-large-context",
  waiting: "the-secret-that-waits",
  waitingContext: "what-came-along-and-waits",
  summary: "the-secret-of-a-summary",
  state: "the-secret-of-a-state",
  tool: "the-secret-of-a-large-result",
  name: "the-name-of-who-said-it",
};
const cid = { id: "cid", name: secrets.name };

describe.each(everyPlace)("What is gone from sessions in $kind", ({ kind, makePlace }) => {
  let room: SessionRoom;
  let other: SessionManager;
  let run: Run;

  /** All the ways to find something, through two processes that both had it in their memory. */
  const found = async (): Promise<string> => {
    const shown: unknown[] = [];
    for (const sessions of [room.sessions, other]) {
      for (const { sessionId } of await sessions.list()) {
        shown.push(sessionId, await sessions.get(sessionId), await all(sessions.history(sessionId)));
      }
      shown.push(await sessions.list({ user: "cid" }), await sessions.list({ place: "here" }));
    }
    return [JSON.stringify(shown), JSON.stringify(await contents(room.store)), await rawBytes(kind, room.place)].join();
  };
  const expectGone = async (...gone: (keyof typeof secrets)[]): Promise<void> => {
    // The log of a SQLite file may have to wait for whoever reads it just now.
    await vi.waitFor(
      async () => {
        const left = await found();
        expect(gone.filter((name) => left.includes(secrets[name]))).toEqual([]);
      },
      { timeout: 5_000, interval: 100 },
    );
  };

  beforeEach(async () => {
    room = await SessionRoom.open(makePlace);
    other = await room.another();
    const near = (id: string, text: string) => ({ id, author: cid, text });
    const context = [near("31", secrets.context), near("32", large(secrets.largeContext))];
    await room.turn("s", input("1", { content: secrets.event, author: cid, places: ["here"] }));
    await room.turn("s", input("2", { content: large(secrets.large), author: cid }));
    await room.turn("s", input("3", { context }));
    const session = await room.sessions.get("s");
    if (!session) throw new Error("no session");
    const upTo = session.events.find(({ id }) => id === "3")?.seq as number;
    expect(await room.sessions.summarise(session, { upTo, text: secrets.summary })).toBe(true);
    await room.turn("kept", input("0", { content: "this stays" }));
    run = runOf(await room.sessions.take("s", input("4")));
    const result = {
      role: "tool" as const,
      content: [
        {
          type: "tool-result" as const,
          toolCallId: "1",
          toolName: "look",
          output: { type: "text" as const, value: large(secrets.tool) },
        },
      ],
    };
    run = {
      ...run,
      session: await room.sessions.save(
        {
          ...run.session,
          state: { secret: secrets.state },
          events: [...run.session.events, { id: "result", at: "now", turn: run.turn, message: result }],
        },
        { run },
      ),
    };
    const waitingContext = [near("51", secrets.waitingContext)];
    await room.sessions.take("s", input("5", { content: secrets.waiting, author: cid, context: waitingContext }));
    await room.sessions.take("s", input("6"));
    await other.get("s");
    const before = await found();
    for (const secret of Object.values(secrets)) expect(before).toContain(secret);
  });
  afterEach(() => room.close());

  it("because it was erased is nowhere, wherever it stood, and stays so while the run goes on", async () => {
    expect(await other.erase(["1", "2", "31", "32", "5", "51"])).toEqual(["s"]);
    const { state: _state, tool: _tool, ...said } = secrets;
    await expectGone(...(Object.keys(said) as (keyof typeof secrets)[]));
    await room.answer(run, "an answer");
    const next = await room.sessions.finish(run);
    expect(next?.inputs.map(({ id }) => id)).toEqual(["6"]);
    await expectGone(...(Object.keys(said) as (keyof typeof secrets)[]));
    expect(await found()).toContain("this stays");
  });

  it("because its session was deleted is nowhere", async () => {
    expect(await other.delete("s")).toBe(true);
    await expectGone(...(Object.keys(secrets) as (keyof typeof secrets)[]));
    await expect(room.answer(run, secrets.event)).rejects.toMatchObject({ code: "RUN_LOST" });
    expect(await found()).not.toMatch(/\/s(\/|")/);
    expect(await found()).toContain("this stays");
  });

  it("because its session was reset is nowhere", async () => {
    expect(await other.reset("s")).toBe(true);
    await expectGone(...(Object.keys(secrets) as (keyof typeof secrets)[]));
    await expect(room.answer(run, secrets.event)).rejects.toMatchObject({ code: "RUN_LOST" });
    await room.turn("s", input("7"));
    await expectGone(...(Object.keys(secrets) as (keyof typeof secrets)[]));
    expect(await found()).toContain("this stays");
  });

  it("because its turn was taken back is nowhere: not in what was large, nor in the summary", async () => {
    const [first] = await all(room.sessions.history("s"));
    expect(await other.rewind("s", first?.turn)).toMatchObject({ inputs: ["1", "2", "3", "4"] });
    await expectGone("event", "large", "context", "largeContext", "summary", "tool");
    const next = runOf(await room.sessions.take("s"));
    expect(next.session.events.map(({ id }) => id)).toEqual(["5", "6"]);
    await expectGone("event", "large", "context", "largeContext", "summary", "tool");
    expect(await found()).toContain("this stays");
  });

  it("because it was amended while it waited is nowhere", async () => {
    expect(await other.amend("s", { id: "5", content: "never mind" })).toBe(true);
    await expectGone("waiting");
    await room.sessions.finish(run);
    await expectGone("waiting");
    expect(await room.texts("s")).toContain("never mind");
  });

  it("from one is also gone from what was forked from it, and only what was erased", async () => {
    await room.sessions.fork("s", { sessionId: "f" });
    expect(await other.erase(["1", "2", "31", "32", "51"])).toEqual(["f", "s"]);
    await expectGone("event", "large", "context", "largeContext", "summary", "waitingContext");
    expect((await all(room.sessions.history("f"))).map(({ id }) => id)).toContain("2");
  });
});
