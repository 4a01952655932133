import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { event, type Role, sessionName } from "../words.ts";
import type { Way, WayKind } from "./way.ts";

/**
 * The way in which Keyv is mostly used: the whole session is one value, which is read and written with each commit.
 * The same adapter and settings as ours.
 */
export const oneValue: WayKind = { name: "one value per session", mostEvents: 100_000, open: openOneValue };

async function openOneValue(file: string): Promise<Way> {
  const adapter = new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout: 5000 });
  await adapter.query("PRAGMA journal_mode=WAL");
  await adapter.query("PRAGMA synchronous=FULL");
  const keyv = new Keyv<{ events: SessionEvent[] }>({ store: adapter, throwOnErrors: true });
  let made = 0;
  let commits = 0;
  async function add(session: number, turn: string, role: Role): Promise<void> {
    const stored = await keyv.get(sessionName(session));
    if (!stored) throw new Error("the session is gone");
    await keyv.set(sessionName(session), { events: [...stored.events, event(`${turn}-${role}`, turn, role)] });
    commits += 1;
  }
  return {
    async fill(sessions, length) {
      const events = Array.from({ length }, (_, seq) => ({
        ...event(`event-${seq}`, `turn-${Math.floor(seq / 2)}`, seq % 2 ? "assistant" : "user"),
        seq,
      }));
      for (let session = 0; session < sessions; session += 1) await keyv.set(sessionName(session), { events });
      await adapter.query("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    async turn(session) {
      const turn = `new-turn-${made++}`;
      await add(session, turn, "user");
      await add(session, turn, "assistant");
    },
    get commits() {
      return commits;
    },
    close: () => keyv.disconnect(),
  };
}
