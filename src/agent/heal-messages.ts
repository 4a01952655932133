import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from "ai";

type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];
type CallPart = Extract<AssistantPart, { type: "tool-call" }>;
type ResultPart = Extract<ToolModelMessage["content"][number], { type: "tool-result" }>;

/** What the model reads instead of a result that was never stored. */
export const interruptedResult =
  "This call was interrupted before its result was stored. Whether it took effect is unknown; it was not run again.";

/**
 * Makes a history that every provider accepts out of one that a crash, a stop or an odd model left behind: a call
 * without a result gets one that says so, results without a call and empty messages are left out, and it begins with
 * a user's message. A healthy history stays as it is, so healing twice is healing once. It is made for a model call
 * and never stored.
 *
 * Results belong to the assistant's message before them: some servers number the calls of every message from zero.
 */
export function healMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const healed: ModelMessage[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index] as ModelMessage;
    if (message.role === "user") {
      if (!isEmptyUser(message)) healed.push(message);
    } else if (message.role === "assistant" && healed.length > 0) {
      const assistant = healAssistant(message);
      if (!assistant) continue;
      healed.push(assistant);
      const calls = openCalls(assistant);
      if (calls.length > 0) healed.push(resultsFor(calls, messages, index + 1));
    }
  }
  return healed;
}

function isEmptyUser({ content }: UserModelMessage): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((part) => part.type === "text" && part.text.trim() === "");
}

/** Without empty parts and repeated calls; `undefined` if nothing is left that says or does something. */
function healAssistant(message: AssistantModelMessage): AssistantModelMessage | undefined {
  if (typeof message.content === "string") return message.content.trim() === "" ? undefined : message;
  const seen = new Set<string>();
  const content = message.content.filter((part) => {
    if (part.type === "text") return part.text !== "" || part.providerOptions !== undefined;
    if (part.type !== "tool-call") return true;
    if (seen.has(part.toolCallId)) return false;
    return seen.add(part.toolCallId);
  });
  const says = content.some((part) => part.type !== "reasoning" && (part.type !== "text" || part.text.trim() !== ""));
  if (!says) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

function openCalls({ content }: AssistantModelMessage): CallPart[] {
  if (typeof content === "string") return [];
  return content.filter((part) => part.type === "tool-call").filter((part) => !part.providerExecuted);
}

/** One message with one result per call, in the order of the calls. */
function resultsFor(calls: readonly CallPart[], messages: readonly ModelMessage[], from: number): ToolModelMessage {
  const found = new Map<string, ResultPart>();
  for (let index = from; messages[index]?.role === "tool"; index += 1) {
    for (const part of (messages[index] as ToolModelMessage).content) {
      if (part.type === "tool-result" && !found.has(part.toolCallId)) found.set(part.toolCallId, part);
    }
  }
  return {
    role: "tool",
    content: calls.map(
      ({ toolCallId, toolName }) =>
        found.get(toolCallId) ?? {
          type: "tool-result",
          toolCallId,
          toolName,
          output: { type: "error-text", value: interruptedResult },
        },
    ),
  };
}
