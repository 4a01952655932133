/**
 * What a turn costs in our sessions, beside the way in which Keyv is mostly used: the whole session as one value,
 * read and written each turn. Both on the same Keyv adapter, with WAL and a full sync, two durable commits a turn
 * (the user's words before the model is called, the answer after), in alternating rounds of one run.
 *
 *     npm run bench            a table
 *     npm run bench -- --json  one JSON object a row
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { KeyvSqlite } from "@keyv/sqlite";
import { Keyv } from "keyv";
import type { SessionEvent } from "../src/session/session-event.ts";
import { openStore } from "../src/session/store/open-store.ts";
import { openSessions } from "../src/session/store-session-manager.ts";

const lengths = [10, 100, 1_000, 10_000];
const rounds = 5;
const turnsPerRound = 8;
const words = "A message of about four hundred bytes, as people write them. ".repeat(7).slice(0, 400);

interface Way {
  readonly name: string;
  turn(): Promise<void>;
  close(): Promise<void>;
}

let made = 0;
let turn = "";
function event(role: "user" | "assistant"): SessionEvent {
  if (role === "user") turn = `turn-${made}`;
  return { id: `event-${made++}`, at: new Date().toISOString(), turn, message: { role, content: words } };
}

async function ours(folder: string, length: number): Promise<Way> {
  const store = await openStore(`sqlite:${path.join(folder, `ours-${length}.sqlite`)}`);
  const sessions = await openSessions({ store });
  let session = await sessions.create({ sessionId: "bench" });
  for (let filled = 0; filled < length; filled += 1_000) {
    const events = Array.from({ length: Math.min(1_000, length - filled) }, (_, i) =>
      event(i % 2 ? "assistant" : "user"),
    );
    session = await sessions.save({ ...session, events });
  }
  return {
    name: "control + event keys",
    async turn() {
      const read = await sessions.get("bench");
      if (!read) throw new Error("the session is gone");
      const asked = await sessions.save({ ...read, events: [...read.events, event("user")] });
      await sessions.save({ ...asked, events: [...asked.events, event("assistant")] });
    },
    async close() {
      await sessions.close();
      await store.close();
    },
  };
}

async function oneValue(folder: string, length: number): Promise<Way> {
  const adapter = new KeyvSqlite({ uri: `sqlite://${path.join(folder, `value-${length}.sqlite`)}`, busyTimeout: 5000 });
  await adapter.query("PRAGMA journal_mode=WAL");
  await adapter.query("PRAGMA synchronous=FULL");
  const keyv = new Keyv<{ events: SessionEvent[] }>({ store: adapter, throwOnErrors: true });
  await keyv.set("bench", { events: Array.from({ length }, (_, i) => event(i % 2 ? "assistant" : "user")) });
  async function add(role: "user" | "assistant"): Promise<void> {
    const session = await keyv.get("bench");
    if (!session) throw new Error("the session is gone");
    await keyv.set("bench", { events: [...session.events, event(role)] });
  }
  return {
    name: "one value per session",
    async turn() {
      await add("user");
      await add("assistant");
    },
    close: () => keyv.disconnect(),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function measure(way: Way): Promise<number> {
  const start = performance.now();
  for (let turn = 0; turn < turnsPerRound; turn++) await way.turn();
  return (performance.now() - start) / turnsPerRound;
}

const { values: options } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const folder = await mkdtemp(path.join(tmpdir(), "threadkeeper-bench-"));
try {
  if (!options.json)
    console.log("events   ours, ms a turn   one value, ms a turn   how much faster (median of rounds)");
  for (const length of lengths) {
    const ways = [await ours(folder, length), await oneValue(folder, length)] as const;
    const times: [number[], number[]] = [[], []];
    for (const way of ways) await measure(way);
    for (let round = 0; round < rounds; round++) {
      times[0].push(await measure(ways[0]));
      times[1].push(await measure(ways[1]));
    }
    for (const way of ways) await way.close();
    const [mine, theirs] = [median(times[0]), median(times[1])];
    const ratio = median(times[0].map((time, round) => (times[1][round] ?? Number.NaN) / time));
    if (options.json) console.log(JSON.stringify({ events: length, oursMs: mine, oneValueMs: theirs, ratio }));
    else {
      const columns = [
        String(length).padEnd(6),
        mine.toFixed(2).padStart(12),
        theirs.toFixed(2).padStart(20),
        `${ratio.toFixed(1)} times`.padStart(20),
      ];
      console.log(columns.join("   "));
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
