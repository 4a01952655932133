import { vi } from "vitest";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import type { AgentEvent, CallFailed } from "../../src/agent/agent-event.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { openMemoryStore } from "../../src/session/store/memory.ts";
import type { Store } from "../../src/session/store/store.ts";
import { openSessions } from "../../src/session/store-session-manager.ts";
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "./scripted-model.ts";

export interface AgentRoom {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly sessions: SessionManager;
  readonly store: Store;
  /** How the agent's takes ended, oldest first. */
  readonly takes: readonly string[];
}

export interface RoomOptions extends Partial<AgentOptions> {
  readonly store?: Store;
  /** Replaces verbs of the session manager, for this agent only. */
  readonly override?: (sessions: SessionManager) => Partial<SessionManager>;
}

/** An agent with a scripted model and real sessions over memory, and one session in it: "room". */
export async function agentRoom(steps: readonly ScriptedStep[], options: RoomOptions = {}): Promise<AgentRoom> {
  const { store = openMemoryStore(), override = () => ({}), sessions: given, ...rest } = options;
  const model = scriptedModel(steps);
  const sessions = given ?? (await openSessions({ store }));
  await sessions.create({ sessionId: "room" });
  const takes: string[] = [];
  const changed = withVerbs(sessions, override(sessions));
  const seen = withVerbs(changed, {
    async take(...args) {
      const taken = await changed.take(...args);
      takes.push(taken.outcome);
      return taken;
    },
  });
  const agent = new Agent({ maxRetries: 0, ...rest, model: rest.model ?? model, sessions: seen });
  return { agent, model, sessions, store, takes };
}

function withVerbs(sessions: SessionManager, verbs: Partial<SessionManager>): SessionManager {
  return new Proxy(sessions, {
    get(target, name: keyof SessionManager) {
      return verbs[name] ?? target[name].bind(target);
    },
  });
}

/** Waits until `check` does not throw, however loaded the machine is. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 15_000, interval: 2 });
}

/** All events of a stream and what it returned. */
export async function drain<Event, Result>(
  stream: AsyncGenerator<Event, Result>,
): Promise<{ events: Event[]; result: Result }> {
  const events: Event[] = [];
  for (;;) {
    const step = await stream.next();
    if (step.done) return { events, result: step.value };
    events.push(step.value);
  }
}

/** Events as short words, with the deltas of a text joined. */
export function shape(events: readonly (AgentEvent | CallFailed)[]): string[] {
  const words: string[] = [];
  let text = "";
  for (const event of events) {
    if (event.type === "text-delta") {
      text += event.text;
      continue;
    }
    if (text) words.push(`text ${JSON.stringify(text)}`);
    text = "";
    if (event.type === "tool-start") words.push(`tool-start ${event.name}`);
    else if (event.type === "tool-end") words.push(`tool-end ${event.name}${event.failed ? " failed" : ""}`);
    else if (event.type === "turn-end") words.push(`turn-end ${event.finishReason}`);
    else if ("error" in event) words.push(`${event.type} ${event.error.code}`);
    else words.push(event.type);
  }
  return text ? [...words, `text ${JSON.stringify(text)}`] : words;
}

/** What a session holds, one line per event: role and text, calls and results. */
export async function transcript(sessions: SessionManager, sessionId = "room"): Promise<string[]> {
  const session = await sessions.get(sessionId);
  return (session?.events ?? []).flatMap(({ author, message }) => {
    const who = author ? `${message.role} ${author.name}` : message.role;
    if (typeof message.content === "string") return [`${who}: ${message.content}`];
    return message.content.map((part) => {
      if (part.type === "text") return `${who}: ${part.text}`;
      if (part.type === "tool-call") return `call ${part.toolName} ${JSON.stringify(part.input)}`;
      if (part.type === "tool-result" && "value" in part.output) {
        return `result ${part.toolName} ${JSON.stringify(part.output.value)}`;
      }
      return `${who}: (${part.type})`;
    });
  });
}
