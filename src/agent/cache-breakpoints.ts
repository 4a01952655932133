import type { ModelMessage, SystemModelMessage } from "ai";

/** Up to here the prompt may be kept by the provider. */
const breakpoint = { cacheControl: { type: "ephemeral" } };

interface Prompt {
  readonly system: string | SystemModelMessage;
  readonly messages: ModelMessage[];
}

/**
 * A prompt with Anthropic's cache breakpoints; that of another provider stays as it is
 * (https://docs.claude.com/en/docs/build-with-claude/prompt-caching; at most four, these are three).
 *
 * - The system text, which comes behind the tools: the same for all sessions.
 * - The message before the newest that people said: the end of the last turn. What a call finds looks back 20 blocks
 *   from a breakpoint at most, so that many results in one turn would else hide what the last turn had left.
 * - The last message: the next step begins with all of this.
 */
export function withCacheBreakpoints(provider: string, instructions: string, messages: ModelMessage[]): Prompt {
  if (!provider.includes("anthropic")) return { system: instructions, messages };
  const newestSaid = messages.findLastIndex(({ role }) => role === "user");
  const lastTurn = messages.findLastIndex(({ role }, place) => role !== "user" && place < newestSaid);
  const marked = new Set([lastTurn, messages.length - 1]);
  return {
    system: mark({ role: "system", content: instructions }),
    messages: messages.map((message, place) => (marked.has(place) ? mark(message) : message)),
  };
}

function mark<Message extends ModelMessage>(message: Message): Message {
  const { providerOptions } = message;
  return {
    ...message,
    providerOptions: { ...providerOptions, anthropic: { ...providerOptions?.["anthropic"], ...breakpoint } },
  };
}
