import type { Conversation } from "../../../src/conversation/conversation.ts";
import { type ConversationOptions, createConversation } from "../../../src/conversation/create-conversation.ts";
import type { Inbound } from "../../../src/conversation/inbound.ts";
import type { TurnEvent } from "../../../src/conversation/turn-event.ts";
import { type AgentRoom, agentRoom, type RoomOptions } from "../../support/agent-room.ts";
import type { ScriptedStep } from "../../support/scripted-model.ts";

export const ada = { id: "1", name: "Ada" };
export const bob = { id: "2", name: "Bob" };

export interface ConversationRoom extends AgentRoom {
  readonly conversation: Conversation;
}

/** A real agent with a scripted model on real sessions, and the conversation in front of them. */
export async function conversationRoom(
  steps: readonly ScriptedStep[],
  options: RoomOptions & Partial<ConversationOptions> = {},
): Promise<ConversationRoom> {
  const { prepareMs, lastWordsMs, ...rest } = options;
  const room = await agentRoom(steps, rest);
  const conversation = createConversation({
    agent: room.agent,
    sessions: room.sessions,
    ...(prepareMs !== undefined && { prepareMs }),
    ...(lastWordsMs !== undefined && { lastWordsMs }),
  });
  return { ...room, conversation };
}

type Common = Partial<Pick<Inbound, "author" | "sessionId">>;

export function says(id: string, text: string, common: Common = {}): Extract<Inbound, { kind: "message" }> {
  return {
    kind: "message",
    id,
    sessionId: "room",
    author: ada,
    replyTo: { message: id },
    places: ["hall"],
    text,
    attachments: [],
    ...common,
  };
}

export function commands(
  kind: "reset" | "stop" | "undo" | "fork",
  common: Common & { privileged?: boolean } = {},
): Inbound {
  return {
    kind,
    id: `${kind}-1`,
    sessionId: "room",
    author: ada,
    replyTo: { command: kind },
    places: ["hall"],
    privileged: false,
    ...common,
  };
}

export async function read(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const all: TurnEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Events as short words: which inputs a turn covers, the text joined, how it ended. */
export function words(events: readonly TurnEvent[]): string[] {
  const list: string[] = [];
  for (const event of events) {
    switch (event.type) {
      case "turn-start":
        list.push(`turn for ${event.inputs.map(({ id }) => id).join("+")}`);
        break;
      case "turn-end":
        list.push(`said ${JSON.stringify(event.text)}`);
        break;
      case "turn-failed":
        list.push(`failed ${event.error.code}`);
        break;
      case "notice":
        list.push(event.reason === "failed" ? `notice failed ${event.error.code}` : `notice ${event.reason}`);
        break;
      case "tool-start":
        list.push(`tool ${event.name}`);
    }
  }
  return list;
}

/** A promise that is settled from outside. */
export function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

/** Waits until something has come about in other callbacks; the test's own timeout ends it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
