import { describe, expect, it } from "vitest";
import { ExecutionContext } from "../../src/agent/execution-context.ts";
import type { SessionEvent } from "../../src/session/session-event.ts";

const first: SessionEvent = {
  id: "e1",
  seq: 0,
  at: "2025-01-01T00:00:00.000Z",
  turn: "t0",
  message: { role: "user", content: "hi" },
};
const start = () => new ExecutionContext({ turn: "t1", author: undefined, events: [first], state: { n: 1 } });

describe("an execution context", () => {
  it("holds the events it started from and those it added, which have no place yet", () => {
    const context = start();
    const added = context.addEvent({ role: "assistant", content: "hello" });
    expect(context.events).toEqual([first, added]);
    expect(added).toMatchObject({ turn: "t1", message: { role: "assistant", content: "hello" } });
    expect(added.seq).toBeUndefined();
    context.saved([first, { ...added, seq: 1 }]);
    expect(context.events[1]).toEqual({ ...added, seq: 1 });
  });

  it("shares nothing with another run on the same events", () => {
    const events: readonly SessionEvent[] = Object.freeze([first]);
    const given = { turn: "t", author: undefined, events, state: {} };
    const [one, two] = [new ExecutionContext(given), new ExecutionContext(given)];
    one.addEvent({ role: "assistant", content: "x" });
    one.state = { changed: true };
    expect(two.events).toEqual([first]);
    expect(two.state).toEqual({});
  });

  it("refuses what is not plain JSON where it is added, with its path", () => {
    const context = start();
    const image = { role: "user" as const, content: [{ type: "image" as const, image: new Uint8Array([1]) }] };
    expect(() => context.addEvent(image)).toThrow("message.content[0].image is not plain JSON");
    expect(() => {
      context.state = { at: new Date() } as never;
    }).toThrow("state.at is not plain JSON");
    expect(context.events).toEqual([first]);
    expect(context.state).toEqual({ n: 1 });
  });
});
