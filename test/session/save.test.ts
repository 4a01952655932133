import { setFlagsFromString } from "node:v8";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";

const event = (id: string): SessionEvent => ({
  id,
  at: "2026-01-01T00:00:00.000Z",
  turn: `turn-${id}`,
  message: { role: "user", content: "hello" },
});

/** https://v8.dev/docs/hidden-classes: objects that share one are read fast, wherever they are read together. */
function hiddenClassOf(known: object[], value: object): object {
  setFlagsFromString("--allow-natives-syntax");
  const isSame = new Function("a", "b", "return %HaveSameMap(a, b)") as (a: object, b: object) => boolean;
  setFlagsFromString("--no-allow-natives-syntax");
  return known.find((each) => isSame(each, value)) ?? value;
}

describe("a saved event", () => {
  it("has the hidden class of the others, those that were read among them", async () => {
    const store = openMemoryStore();
    const sessions = await openSessions({ store });
    await sessions.create({ sessionId: "s" });
    for (let turn = 0; turn < 300; turn++) {
      const read = await sessions.get("s");
      if (!read) throw new Error("the session is gone");
      await sessions.save({ ...read, events: [...read.events, event(`saved-${turn}`)] });
    }
    const others = await openSessions({ store });
    const all = [...((await sessions.get("s"))?.events ?? []), ...((await others.get("s"))?.events ?? [])];
    expect(all).toHaveLength(600);
    const classes: object[] = [];
    for (const each of all) {
      const found = hiddenClassOf(classes, each);
      if (found === each) classes.push(each);
    }
    // Those that were compiled before the code was warm, and those that were parsed, may have one each.
    expect(classes.length).toBeLessThanOrEqual(4);
    await sessions.close();
    await others.close();
  });

  it("is remembered as others read it, whatever its fields are called", async () => {
    const store = openMemoryStore();
    const [sessions, others] = [await openSessions({ store }), await openSessions({ store })];
    const created = await sessions.create({ sessionId: "s" });
    const odd = JSON.parse(JSON.stringify(event("odd")).replace("{", '{"__proto__":{"erased":true},')) as SessionEvent;
    await sessions.save({ ...created, events: [odd] });
    const [mine, theirs] = [await sessions.get("s"), await others.get("s")];
    expect(mine?.events[0]?.erased).toBeUndefined();
    expect(JSON.stringify(mine)).toBe(JSON.stringify(theirs));
    expect(JSON.stringify(theirs)).toContain("__proto__");
    await sessions.close();
    await others.close();
  });
});
