import { KeyvSqlite } from "@keyv/sqlite";
import { newControl } from "../../src/session/control.ts";
import { randomId } from "../../src/session/random-id.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { controlKey, formatRecord } from "../../src/session/session-record.ts";
import { keyvText } from "../../src/session/store/keyv-text.ts";
import { openStore } from "../../src/session/store/open-store.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { event, sessionName, windowEvents } from "../words.ts";
import { filling } from "./filling.ts";
import type { Way, WayKind } from "./way.ts";

/** As many bytes as the others' window of 50 events has. */
const load = {
  maxBytes:
    windowEvents * formatRecord({ event: { ...event("event-10000", "turn-5000", "assistant"), seq: 10_000 } }).length,
};

/** As a program uses the library by itself: read, save the words, save the answer. Two commits. */
export const ours: WayKind = {
  name: "ours",
  mostEvents: 6_400_000,
  open: (file) => openOurs(file, getAndSave),
};

/** As the bot does, with its queue and its fence: take, save, finish. Three commits. */
export const oursAsTheBot: WayKind = {
  name: "ours, as the bot's turn",
  mostEvents: 800_000,
  open: (file) => openOurs(file, takeAndFinish),
};

let made = 0;

async function getAndSave(sessions: SessionManager, sessionId: string): Promise<void> {
  const read = await sessions.get(sessionId, load);
  if (!read) throw new Error("the session is gone");
  const turn = `new-turn-${made++}-${process.pid}`;
  const asked = await sessions.save({ ...read, events: [...read.events, event(`${turn}-asked`, turn, "user")] });
  await sessions.save({ ...asked, events: [...asked.events, event(`${turn}-answered`, turn, "assistant")] });
}

async function takeAndFinish(sessions: SessionManager, sessionId: string): Promise<void> {
  const id = `new-${made++}-${process.pid}`;
  const { message } = event(id, "", "user");
  const taken = await sessions.take(sessionId, { id, content: message.content as string }, load);
  if (taken.outcome !== "run") throw new Error(`no run, but ${taken.outcome}`);
  const { run } = taken;
  const events: SessionEvent[] = [...run.session.events, event(`${id}-answered`, run.turn, "assistant")];
  await sessions.save({ ...run.session, events }, { run, ended: {} });
  await sessions.finish(run, load);
}

async function openOurs(
  file: string,
  turn: (sessions: SessionManager, sessionId: string) => Promise<void>,
): Promise<Way> {
  const store = counting(await openStore(`sqlite:${file}`));
  const sessions = await openSessions({ store });
  return {
    async fill(count, events) {
      for (let session = 0; session < count; session += 1) {
        const control = { ...newControl(randomId()), saves: events, count: events };
        const key = controlKey(sessionName(session));
        await store.commit({ key, was: undefined, put: new Map([[key, formatRecord(control)]]) });
      }
      await fillEvents(file, count, events);
    },
    turn: (session) => turn(sessions, sessionName(session)),
    get commits() {
      return store.commits;
    },
    async close() {
      await sessions.close();
      await store.close();
    },
  };
}

async function fillEvents(file: string, sessions: number, events: number): Promise<void> {
  const { sql, parameters } = filling(
    "INSERT INTO keyv (key, value)",
    "'keyv:event/' || name || '/' || printf('%010d', n)",
    (each) => keyvText.serialize({ value: formatRecord({ event: each }) }),
  );
  const adapter = new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout: 5000 });
  await adapter.query("PRAGMA synchronous=OFF");
  for (let session = 0; session < sessions; session += 1) await adapter.query(sql, ...parameters(session, events));
  await adapter.query("PRAGMA wal_checkpoint(TRUNCATE)");
  await adapter.disconnect();
}

function counting(store: Store): Store & { readonly commits: number } {
  let commits = 0;
  return {
    description: store.description,
    get: (keys) => store.get(keys),
    keys: (prefix, options) => store.keys(prefix, options),
    close: () => store.close(),
    async commit(change) {
      const committed = await store.commit(change);
      // Beats are the process's, not a turn's.
      if (committed && change.key.startsWith("control/")) commits += 1;
      return committed;
    },
    get commits() {
      return commits;
    },
  };
}
