import { KeyvSqlite } from "@keyv/sqlite";
import { expect, it } from "vitest";
import { newControl } from "../../src/session/control.ts";
import { nothingHandled, withHandled } from "../../src/session/handled.ts";
import { saidKey } from "../../src/session/session-index.ts";
import type { Run, SessionManager } from "../../src/session/session-manager.ts";
import { controlKey, eventKey, formatRecord, summaryKey } from "../../src/session/session-record.ts";
import { keyvText } from "../../src/session/store/keyv-text.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { FaultyStore } from "../support/faulty-store.ts";
import { sqlitePlace } from "../support/store-places.ts";

const sessionCount = 10_000;
const eventsEach = 100;
const firstThread = 111_111_111_111_100_000n;
const sessionName = (number: number) => `discord:${firstThread + BigInt(number)}`;

/** Numbers that are no part of any text, so that SQL can put a row's own in their places. */
const [sessionMark, seqMark] = [4_000_000_001, 4_000_000_002];

/** Every row of that many sessions, made inside of SQLite from one that our own code has written. */
async function fill(path: string): Promise<void> {
  const adapter = new KeyvSqlite({ uri: `sqlite://${path}`, busyTimeout: 5000 });
  const name = `discord:${sessionMark}`;
  const inSession = (text: string) => `replace('${text}', '${sessionMark}', ${firstThread} + s)`;
  const inEvent = (text: string) =>
    `replace(replace(${inSession(text)}, '000${seqMark}', printf('%010d', e)), '${seqMark}', e)`;
  const value = (text: string) => keyvText.serialize({ value: text });
  const ids = Array.from({ length: eventsEach / 2 }, (_, turn) => `input-${2 * turn}`);
  const handled = ids.reduce((known, id) => withHandled(known, id), nothingHandled);
  const control = { ...newControl("revision", { topic: "old" }, handled), saves: eventsEach, count: eventsEach };
  const event = (role: "user" | "assistant") => ({
    ...{ id: `input-${seqMark}`, seq: seqMark, at: "2024-01-01T00:00:00.000Z", turn: `turn-${seqMark}` },
    ...(role === "user" && { author: { id: "17", name: "Ada" } }),
    message: { role, content: `words of ${seqMark}` },
  });
  const numbers = `WITH RECURSIVE
    session (s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM session WHERE s + 1 < ${sessionCount}),
    event (e) AS (SELECT 0 UNION ALL SELECT e + 1 FROM event WHERE e + 1 < ${eventsEach})`;
  const key = (text: string) => `keyv:${text}`;
  const keyOfEvent = key(eventKey(name, 0).replace(/0{10}$/, `000${seqMark}`));
  await adapter.query("PRAGMA journal_mode=MEMORY");
  await adapter.query("PRAGMA synchronous=OFF");
  await adapter.query(
    `${numbers} INSERT INTO keyv SELECT ${inSession(key(controlKey(name)))}, ${inSession(value(formatRecord(control)))} FROM session`,
  );
  await adapter.query(
    `${numbers} INSERT INTO keyv SELECT ${inEvent(keyOfEvent)}, CASE e % 2
       WHEN 0 THEN ${inEvent(value(formatRecord({ event: event("user") })))}
       ELSE ${inEvent(value(formatRecord({ event: event("assistant") })))} END
     FROM session, event`,
  );
  // What was said in one of them; the rows of the others would only make the file larger.
  await adapter.query(
    `${numbers} INSERT INTO keyv SELECT ${inEvent(key(saidKey(`input-${seqMark}`, name, seqMark)))}, '${value(formatRecord({}))}'
     FROM session, event WHERE s = 77 AND e % 2 = 0`,
  );
  await adapter.disconnect();
}

async function turn(sessions: SessionManager, sessionId: string, id: string): Promise<Run> {
  const input = { id, content: "Where were we?", author: { id: "17", name: "Ada" } };
  const taken = await sessions.take(sessionId, input, { maxBytes: 5_000 });
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  const { run } = taken;
  const answer = {
    id: `a-${id}`,
    at: "now",
    turn: run.turn,
    message: { role: "assistant" as const, content: "There." },
  };
  await sessions.save({ ...run.session, events: [...run.session.events, answer] }, { run, ended: {} });
  expect(await sessions.finish(run)).toBeUndefined();
  return run;
}

it("A store of 10,000 sessions and 1,000,000 events opens without reading one, and an old thread's first turn reads its window", async () => {
  const place = await sqlitePlace();
  try {
    await (await place.open()).close();
    await fill(place.path);
    const store = await place.open();
    const counted = new FaultyStore(store);
    const sessions = await openSessions({ store: counted });
    const keysRead = () => counted.reads.flat();
    expect(keysRead().filter((key) => !/^(?:owner|alive)\//.test(key))).toEqual([]);
    expect(await sessions.unfinished()).toEqual([]);

    const sessionId = sessionName(77);
    Object.assign(counted, { reads: [], commits: [] });
    const { session } = await turn(sessions, sessionId, "cold");
    expect(session.state).toEqual({ topic: "old" });
    expect(session.events.at(-2)?.message.content).toBe("words of 99");
    expect(session.earlier).toBe(eventsEach + 1 - session.events.length);
    const cold = { reads: counted.reads.length, keys: keysRead(), writes: counted.commits.map(({ put }) => put.size) };
    const window = session.events.slice(0, -1).map((event) => eventKey(sessionId, event.seq as number));
    const events = cold.keys.filter((key) => key.startsWith("event/"));
    expect(events.toSorted().slice(-window.length)).toEqual(window);
    // Events are read in batches, since how large they are is not known before.
    expect(events.length).toBeLessThan(window.length + 32);
    expect(new Set(cold.keys.filter((key) => !events.includes(key)))).toEqual(
      new Set([controlKey(sessionId), summaryKey(sessionId), sessionId]),
    );
    expect(cold.reads).toBeLessThanOrEqual(3);

    Object.assign(counted, { reads: [], commits: [] });
    await turn(sessions, sessionId, "warm");
    expect(counted.reads).toEqual([]);
    const [take = 0, ...rest] = counted.commits.map(({ put }) => put.size);
    // Whoever says something for the first time in an hour is found by it: two rows.
    expect(cold.writes).toEqual([take + 2, ...rest]);
    expect(rest).toHaveLength(2);
    await sessions.close();
    await store.close();
  } finally {
    await place.remove();
  }
}, 60_000);
