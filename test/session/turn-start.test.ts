import type { ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { startsTurn } from "../../src/session/turn-start.ts";

function event(role: "user" | "assistant", turn: string): SessionEvent {
  return {
    id: `${role} ${turn}`,
    at: "2025-01-01T00:00:00.000Z",
    turn,
    message: { role, content: "x" } as ModelMessage,
  };
}

describe("a turn begins", () => {
  it("at the first of the user's words in it, also after a turn that got no answer", () => {
    expect(startsTurn(event("user", "b"), event("assistant", "a"))).toBe(true);
    expect(startsTurn(event("user", "b"), event("user", "a"))).toBe(true);
    expect(startsTurn(event("user", "b"), undefined)).toBe(true);
  });

  it("not at what others say in it, nor where a turn that was taken over goes on", () => {
    expect(startsTurn(event("user", "b"), event("user", "b"))).toBe(false);
    expect(startsTurn(event("user", "b"), event("assistant", "b"))).toBe(false);
    expect(startsTurn(event("assistant", "b"), event("user", "a"))).toBe(false);
    expect(startsTurn(event("assistant", "b"), undefined)).toBe(false);
  });
});
