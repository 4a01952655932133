import { KeyvSqlite } from "@keyv/sqlite";
import { keyvText } from "../../src/session/store/keyv-text.ts";
import { event, type Role, sessionName } from "../words.ts";
import { filling } from "./filling.ts";
import type { Way, WayKind } from "./way.ts";

/**
 * No way to keep sessions, but what none that goes through Keyv's SQLite driver can be faster than: it reads the keys
 * that ours reads, and writes the rows that ours writes, without looking whether somebody else was there, and without
 * knowing anything of what it writes.
 */
export const driver: WayKind = { name: "Keyv's driver alone", mostEvents: 800_000, open: openDriver };

const upsert = (rows: number) =>
  `INSERT INTO keyv (key, value) VALUES ${Array(rows).fill("(?,?)").join(",")} ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** About as long as a control record of ours. */
const control = JSON.stringify({ format: 2, revision: "x".repeat(22), saves: 0, count: 0, rest: "x".repeat(180) });

async function openDriver(file: string): Promise<Way> {
  const adapter = new KeyvSqlite({ uri: `sqlite://${file}`, busyTimeout: 5000 });
  for (const setting of ["journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "cache_size=-16000"]) {
    await adapter.query(`PRAGMA ${setting}`);
  }
  let length = 0;
  let made = 0;
  let commits = 0;
  async function save(name: string, turn: string, role: Role): Promise<void> {
    const seq = length + made++;
    const rows = [
      `keyv:event/${name}/${String(seq).padStart(10, "0")}`,
      keyvText.serialize({
        value: JSON.stringify({ format: 2, event: { ...event(`${turn}-${role}`, turn, role), seq } }),
      }),
      `keyv:control/${name}`,
      keyvText.serialize({ value: `${control}${seq}` }),
    ];
    if (role === "user") rows.push(`keyv:said/${turn}/${name}/${seq}`, keyvText.serialize({ value: '{"format":2}' }));
    await adapter.query(upsert(rows.length / 2), ...rows);
    commits += 1;
  }
  return {
    async fill(sessions, events) {
      length = events;
      const { sql, parameters } = filling(
        "INSERT INTO keyv (key, value)",
        "'keyv:event/' || name || '/' || printf('%010d', n)",
        (each) => keyvText.serialize({ value: JSON.stringify({ format: 2, event: each }) }),
      );
      await adapter.query("PRAGMA synchronous=OFF");
      for (let session = 0; session < sessions; session += 1) await adapter.query(sql, ...parameters(session, events));
      await adapter.query("PRAGMA wal_checkpoint(TRUNCATE)");
      await adapter.query("PRAGMA synchronous=FULL");
    },
    async turn(session) {
      const name = sessionName(session);
      const keys = [`control/${name}`, `summary/${name}`, name].map((key) => `keyv:${key}`);
      await adapter.query("SELECT key, value FROM keyv WHERE key IN (?,?,?)", ...keys);
      const turn = `new-turn-${process.pid}-${made}`;
      await save(name, turn, "user");
      await save(name, turn, "assistant");
    },
    get commits() {
      return commits;
    },
    close: () => adapter.disconnect(),
  };
}
