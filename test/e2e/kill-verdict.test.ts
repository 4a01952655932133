import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/session/session-event.ts";
import { judgeThread, type ThreadEvidence } from "./support/kill-verdict.ts";

const asked = [
  { id: "101", name: "question-1." },
  { id: "102", name: "question-2." },
];
const event = (seq: number, turn: string, id: string, role: "user" | "assistant", content: string): SessionEvent => ({
  id,
  seq,
  at: "2026-01-01T00:00:00.000Z",
  turn,
  message: { role, content },
});
const right = [
  event(0, "a", "101", "user", "question-1."),
  event(1, "a", "x", "assistant", "Call 1 answers question-1."),
  event(2, "b", "102", "user", "question-2."),
  event(3, "b", "y", "assistant", "Call 2 answers question-2."),
];
const shown = ["Call 1 answers question-1.", "Call 2 answers question-2."];
const judge = (changes: Partial<ThreadEvidence>) =>
  judgeThread({ thread: "T", asked, shown, events: right, ...changes });
const without = (...seqs: number[]) => right.filter(({ seq }) => !seqs.includes(seq ?? -1));

describe("The verdict on a kill run", () => {
  it("has nothing to say of what is right, also of two messages in one turn", async () => {
    expect(await judge({})).toEqual([]);
    const [first, , second] = right as [SessionEvent, SessionEvent, SessionEvent];
    const answer = event(2, "a", "x", "assistant", "Call 1 answers question-1. question-2.");
    const events = [first, { ...second, turn: "a", seq: 1 }, answer];
    expect(await judge({ events, shown: ["Call 1 answers question-1. question-2."] })).toEqual([]);
  });

  it.each<[string, Partial<ThreadEvidence>, string]>([
    ["a thread without a session", { events: undefined }, "T: 2 messages, but no session"],
    ["a message that is not stored", { events: without(2, 3) }, "T: not stored: question-2."],
    [
      "a message that is stored twice",
      { events: [...right, { ...right[2], turn: "c" } as SessionEvent] },
      "T: stored twice: question-2.",
    ],
    ["a message that nobody wrote", { asked: asked.slice(0, 1) }, "T: stored, but said by nobody: 102"],
    [
      "another order",
      { events: [...right.slice(2), ...right.slice(0, 2)] },
      "T: not in order: question-2. question-1.",
    ],
    ["a turn without an answer", { events: without(3) }, "T: the turn of question-2. has no answer"],
    [
      "an answer to something else",
      { events: [...without(3), event(3, "b", "y", "assistant", "Call 2 answers question-1.")] },
      "T: the turn of question-2. answers question-1.",
    ],
    ["a missing chunk", { shown: shown.slice(0, 1) }, 'T: missing in the thread: "Call 2 answers question-2."'],
    [
      "a chunk that is there twice",
      { shown: [...shown, ...shown.slice(1)] },
      'T: twice in the thread: "Call 2 answers question-2."',
    ],
    ["what is left of another call", { shown: ["Call 0", ...shown] }, 'T: in the thread, not in the store: "Call 0"'],
    [
      "answers in another order",
      { shown: shown.toReversed() },
      'T: the thread\'s messages are in another order: "Call 2 answers question-2.", "Call 1 answers question-1."',
    ],
  ])("tells of %s", async (_what, changes, sentence) => {
    expect(await judge(changes)).toContain(sentence);
  });
});
