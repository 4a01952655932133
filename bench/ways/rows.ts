import { createRequire } from "node:module";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { event, type Role, sessionName, windowEvents } from "../words.ts";
import { filling } from "./filling.ts";
import type { Way, WayKind } from "./way.ts";

/**
 * What one would write by hand: a table of sessions, a table of events, the fastest driver there is. Each turn reads
 * its window again; each commit is a transaction of its own that adds an event and moves its session's version, as
 * ours does, so that both can tell a stale writer.
 */
export const rows: WayKind = { name: "rows", mostEvents: 6_400_000, open: openRows };

interface Statement {
  run(...parameters: readonly (string | number)[]): { readonly changes: number };
  get(...parameters: readonly (string | number)[]): unknown;
  all(...parameters: readonly (string | number)[]): unknown[];
}

interface Database {
  pragma(text: string): unknown;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  transaction<Parameters extends unknown[]>(
    work: (...parameters: Parameters) => void,
  ): {
    immediate(...parameters: Parameters): void;
  };
  close(): void;
}

interface Head {
  readonly version: number;
  readonly count: number;
  readonly state: string;
}

const tables = `
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, version INTEGER NOT NULL, count INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS event (session TEXT NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (session, seq));`;

/** @throws Error that says what to run, if the driver is not installed */
export function loadDriver(): new (file: string, options: { timeout: number }) => Database {
  const driver = "better-sqlite3";
  try {
    return createRequire(import.meta.url)(driver);
  } catch (cause) {
    throw new Error(`${driver} is not here, with which ours is compared. Run: npm ci --prefix bench`, { cause });
  }
}

async function openRows(file: string): Promise<Way> {
  const Driver = loadDriver();
  const database = new Driver(file, { timeout: 5000 });
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(tables);
  const readHead = database.prepare("SELECT version, count, state FROM session WHERE id = ?");
  const readWindow = database.prepare("SELECT event FROM event WHERE session = ? ORDER BY seq DESC LIMIT ?");
  const insert = database.prepare("INSERT INTO event (session, seq, event) VALUES (?, ?, ?)");
  const move = database.prepare(
    "UPDATE session SET version = version + 1, count = ?, state = ? WHERE id = ? AND version = ?",
  );
  const add = database.transaction((name: string, { version, count, state }: Head, added: SessionEvent) => {
    if (move.run(count + 1, state, name, version).changes !== 1) throw new Error("somebody else was faster");
    insert.run(name, count, JSON.stringify({ ...added, seq: count }));
  });
  let made = 0;
  let commits = 0;
  function save(name: string, head: Head, turn: string, role: Role): Head {
    add.immediate(name, head, event(`${turn}-${role}`, turn, role));
    commits += 1;
    return { version: head.version + 1, count: head.count + 1, state: JSON.stringify(JSON.parse(head.state)) };
  }
  return {
    async fill(sessions, length) {
      database.pragma("synchronous = OFF");
      const { sql, parameters } = filling("INSERT INTO event (session, seq, event)", "name, n", (each) =>
        JSON.stringify(each),
      );
      const fillEvents = database.prepare(sql);
      const fillSession = database.prepare("INSERT INTO session VALUES (?, ?, ?, '{}')");
      for (let session = 0; session < sessions; session += 1) {
        fillEvents.run(...parameters(session, length));
        fillSession.run(sessionName(session), length, length);
      }
      database.pragma("wal_checkpoint(TRUNCATE)");
      database.pragma("synchronous = FULL");
    },
    async turn(session) {
      const name = sessionName(session);
      const head = readHead.get(name) as Head;
      const window = readWindow.all(name, windowEvents).map((row) => JSON.parse((row as { event: string }).event));
      if (window.length === 0) throw new Error("the session is gone");
      const turn = `new-turn-${process.pid}-${made++}`;
      const asked = save(name, head, turn, "user");
      // Here the model would be called, and others go on.
      await undefined;
      save(name, asked, turn, "assistant");
    },
    get commits() {
      return commits;
    },
    async close() {
      database.close();
    },
  };
}
