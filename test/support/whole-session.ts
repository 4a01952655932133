import { expect } from "vitest";
import { openUnder } from "../../src/session/control.ts";
import { parseSaidKey, saidKeys } from "../../src/session/session-index.ts";
import {
  controlKey,
  eventKey,
  eventPrefix,
  openKey,
  parseControl,
  parseEvent,
} from "../../src/session/session-record.ts";
import type { Store } from "../../src/session/store/store.ts";
import { contents } from "./store-contract.ts";

/** That a session's keys are those of one control record: nothing of a commit without the rest of it. */
export async function expectWhole(store: Store, sessionId: string): Promise<void> {
  const all = await contents(store);
  const keys = Object.keys(all);
  const control = parseControl(sessionId, all[controlKey(sessionId)]);
  const seqs = Array.from({ length: control.count }, (_, seq) => seq);
  expect(keys.filter((key) => key.startsWith(eventPrefix(sessionId)))).toEqual(
    seqs.map((seq) => eventKey(sessionId, seq)),
  );
  const events = seqs.map((seq) => parseEvent(sessionId, seq, all[eventKey(sessionId, seq)]).event);
  const waiting = control.waiting.map(({ id, context }) => ({
    ...{ id, at: "", turn: "", message: { role: "user" as const, content: "" } },
    ...(context && { context }),
  }));
  expect(keys.filter((key) => key.startsWith("said/") && parseSaidKey(key).sessionId === sessionId).sort()).toEqual(
    [...events, ...waiting].flatMap((event) => saidKeys(sessionId, event)).sort(),
  );
  const owner = openUnder(control);
  expect(keys.filter((key) => key.startsWith("open/") && key.endsWith(`/${sessionId}`))).toEqual(
    owner === undefined ? [] : [openKey(owner, sessionId)],
  );
}
