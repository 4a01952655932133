import type { AgentEvent } from "../../../src/agent/agent-event.ts";
import { type ReplyView, replyViews } from "../../../src/reply/reply-view.ts";
import type { SessionEvent } from "../../../src/session/session-event.ts";
import { namesIn } from "./naming-provider.ts";

/** A thread as it stands on the sandbox, beside its session as it stands in the store. */
export interface ThreadEvidence {
  readonly thread: string;
  /** What people said to the bot there, the message that it was opened on first: ids in order, and their names. */
  readonly asked: readonly { readonly id: string; readonly name: string }[];
  /** The bot's messages, in order. */
  readonly shown: readonly string[];
  /** `undefined`: there is no session. */
  readonly events: readonly SessionEvent[] | undefined;
}

/**
 * What is wrong, one sentence each: every message is stored once and covered by exactly one answered turn, in order;
 * what stands in the thread is what the store says, chunk by chunk.
 */
export async function judgeThread({ thread, asked, shown, events }: ThreadEvidence): Promise<string[]> {
  if (!events) return [`${thread}: ${asked.length} messages, but no session`];
  const wrong: string[] = [];
  const stored = events.filter(({ message }) => message.role === "user").map(({ id }) => id);
  const told = (what: string, ids: readonly string[]) => {
    const names = ids.map((id) => asked.find((each) => each.id === id)?.name ?? id);
    if (ids.length > 0) wrong.push(`${thread}: ${what} ${names.join(" ")}`);
  };
  told(
    "not stored:",
    asked.map(({ id }) => id).filter((id) => !stored.includes(id)),
  );
  told(
    "stored twice:",
    stored.filter((id, index) => stored.indexOf(id) !== index),
  );
  told(
    "stored, but said by nobody:",
    stored.filter((id) => !asked.some((each) => each.id === id)),
  );
  const sorted = stored.toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
  if (stored.join() !== sorted.join()) told("not in order:", stored);
  const expected: string[] = [];
  for (const turn of turnsOf(events)) {
    const answers = turn.filter(({ message }) => message.role === "assistant").map(({ message }) => textOf(message));
    const questions = turn.filter(({ message }) => message.role === "user");
    const names = questions.map(({ id }) => asked.find((each) => each.id === id)?.name ?? id);
    const last = turn.at(-1);
    if (last?.message.role !== "assistant" || callsTool(last)) {
      wrong.push(`${thread}: the turn of ${names.join(" ")} has no answer`);
    } else if (namesIn(answers.at(-1) ?? "").join() !== names.join()) {
      wrong.push(`${thread}: the turn of ${names.join(" ")} answers ${namesIn(answers.at(-1) ?? "").join(" ")}`);
    }
    expected.push(...(await chunksOf(answers.filter(Boolean).join("\n\n"))));
  }
  return [...wrong, ...judgeShown(thread, shown, expected)];
}

function judgeShown(thread: string, shown: readonly string[], expected: readonly string[]): string[] {
  if (shown.join("\0") === expected.join("\0")) return [];
  const wrong = [
    ...expected.filter((chunk) => !shown.includes(chunk)).map((chunk) => `missing in the thread: ${brief(chunk)}`),
    ...shown
      .filter((chunk) => !expected.includes(chunk))
      .map((chunk) => `in the thread, not in the store: ${brief(chunk)}`),
    ...shown
      .filter((chunk, index) => shown.indexOf(chunk) !== index)
      .map((chunk) => `twice in the thread: ${brief(chunk)}`),
  ];
  if (wrong.length === 0) wrong.push(`the thread's messages are in another order: ${shown.map(brief).join(", ")}`);
  return wrong.map((what) => `${thread}: ${what}`);
}

/** Events in order, cut where the turn changes; a turn that is interrupted by another one comes twice. */
function turnsOf(events: readonly SessionEvent[]): SessionEvent[][] {
  const turns: SessionEvent[][] = [];
  for (const event of events) {
    if (turns.at(-1)?.[0]?.turn === event.turn) turns.at(-1)?.push(event);
    else turns.push([event]);
  }
  return turns;
}

function textOf({ content }: SessionEvent["message"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function callsTool({ message: { content } }: SessionEvent): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "tool-call");
}

/** As the reply's own code would show it. */
async function chunksOf(text: string): Promise<readonly string[]> {
  async function* turn(): AsyncGenerator<AgentEvent> {
    yield { type: "turn-start", turn: "t", inputs: [], replyTo: null };
    yield { type: "text-delta", turn: "t", text };
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
    yield { type: "turn-end", turn: "t", text, finishReason: "stop", usage, steps: 1 };
  }
  let last: ReplyView | undefined;
  for await (const view of replyViews(turn())) last = view;
  return last?.chunks ?? [];
}

function brief(chunk: string): string {
  const line = chunk.split("\n")[0] ?? "";
  return JSON.stringify(
    chunk.length > line.length ? `${line.slice(0, 80)} (${chunk.length} characters)` : line.slice(0, 200),
  );
}
