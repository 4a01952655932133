import type { LanguageModelV3CallOptions, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { demoSummary } from "./demo-summary.ts";
import { closestMatch, hasTopic, LexicalIndex } from "./lexical-match.ts";
import { decodeUtterances, type Utterance } from "./speaker-label.ts";
import { wordsAskedFor } from "./summarise.ts";

/** What the demo model does in a step. */
export type DemoAnswer =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly toolName: string; readonly input: string };

/** Begins every answer, and tells the model its own answers from what can be quoted. */
const mark = "(demo model)";
const introduction =
  "I am the built-in demo model, not a real language model: all that I do is find and quote what was said in this conversation. Set MODEL for a real one.";
const quotedLength = 400;
const questionMark = /[?？؟⸮՞]/;
const questionWord = /^\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|do|does|did|can|could|tell|remind)\b/i;
const zoneName = /\b[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_]+)+\b/;

/** Something in the conversation that can be quoted; `own`: said by the assistant. */
type Quotable = Omit<Utterance, "kind"> & { readonly kind: Utterance["kind"] | "own" };

/** What a model without any knowledge can honestly say: it looks into the prompt it is given, and nowhere else. */
export function demoAnswer({
  prompt,
  tools = [],
  toolChoice,
}: Pick<LanguageModelV3CallOptions, "prompt" | "tools" | "toolChoice">): DemoAnswer {
  const [system] = prompt;
  const words = system?.role === "system" ? wordsAskedFor(system.content) : undefined;
  if (words !== undefined) return { kind: "text", text: demoSummary(textOf(prompt.at(-1)), words) };
  const { earlier, asked, first } = readPrompt(prompt);
  const result = toolResult(prompt);
  if (result !== undefined) return say(result, first);

  const newest = asked.at(-1);
  const clock = toolChoice?.type === "none" ? undefined : tools.find(({ name }) => name === "current_time");
  if (newest && clock?.type === "function" && isAbout(newest.text, `${clock.name} ${clock.description}`)) {
    const zone = zoneName.exec(newest.text)?.[0];
    return { kind: "call", toolName: clock.name, input: JSON.stringify(zone ? { zone } : {}) };
  }
  const facts = new Facts();
  for (const each of earlier) facts.add(each);
  const replies = asked.map((utterance) => {
    const answer = reply(utterance, facts);
    facts.add(utterance);
    return answer;
  });
  return say(replies.join("\n\n"), first);
}

function say(text: string, first: boolean): DemoAnswer {
  return { kind: "text", text: first ? `${mark} ${introduction}\n\n${text}` : `${mark} ${text}` };
}

/** What there is to go by: all that was said and is no question. Read once, also where many questions are asked. */
class Facts {
  readonly #all: Quotable[] = [];
  readonly #index = new LexicalIndex();

  add(quotable: Quotable): void {
    if (isQuestion(quotable.text)) return;
    this.#all.push(quotable);
    this.#index.add(`${quotable.author?.name ?? ""} ${quotable.text}`);
  }

  get count(): number {
    return this.#all.length;
  }

  get newest(): Quotable | undefined {
    return this.#all.at(-1);
  }

  closestTo(text: string): Quotable | undefined {
    const match = this.#index.closestTo(text);
    return match && this.#all[match.index];
  }
}

function reply({ text }: Quotable, facts: Facts): string {
  const closest = facts.closestTo(text);
  const { newest } = facts;
  if (isQuestion(text)) {
    if (closest) return quote(closest);
    if (newest && !hasTopic(text)) return `Of ${count(facts.count)} to go by, this is the newest. ${quote(newest)}`;
    const all = newest ? `${count(facts.count)} to go by, and none comes close` : "nothing was said before";
    return `I have nothing on that in this conversation: ${all}.`;
  }
  const all = `Noted. With this I have ${count(facts.count + 1)} to go by.`;
  if (closest) return `${all} Closest to it: ${quote(closest)}`;
  return newest ? `${all} Before it: ${quote(newest)}` : all;
}

function quote({ kind, author, at, text }: Quotable): string {
  if (kind === "summary") return `My summary of what was said before says:\n> ${text}`;
  const speaker = kind === "own" ? "I" : (author?.name ?? "You");
  const nearby = kind === "overheard" ? " nearby, not to me" : "";
  const when = at ? ` on ${at.slice(0, 10)} at ${at.slice(11, 16)} UTC` : "";
  const shown = text.length > quotedLength ? `${text.slice(0, quotedLength).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return `${speaker} said${nearby}${when}:\n> ${shown.replaceAll("\n", "\n> ")}`;
}

function count(messages: number): string {
  return messages === 1 ? "1 message" : `${messages} messages`;
}

function isQuestion(text: string): boolean {
  return (
    questionMark.test(text) || questionWord.test(text) || (/\p{Script=Greek}/u.test(text) && /;$/.test(text.trimEnd()))
  );
}

function isAbout(question: string, description: string): boolean {
  if (!isQuestion(question)) return false;
  return (closestMatch(question.replace(zoneName, ""), [description])?.score ?? 0) >= 0.7;
}

/** What was said before, and what is to be answered now: all since the assistant's last word. */
function readPrompt(prompt: LanguageModelV3Prompt): { earlier: Quotable[]; asked: Quotable[]; first: boolean } {
  const earlier: Quotable[] = [];
  let asked: Quotable[] = [];
  let first = true;
  for (const message of prompt) {
    if (message.role !== "user" && message.role !== "assistant") continue;
    const text = textOf(message);
    if (message.role === "assistant") {
      if (text.trim() === "") continue;
      first = false;
      earlier.push(...asked);
      if (!text.startsWith(mark)) earlier.push({ kind: "own", text });
      asked = [];
      continue;
    }
    const utterances = decodeUtterances(text);
    earlier.push(...utterances.flatMap((each) => (each.kind === "summary" ? linesOf(each) : [])));
    earlier.push(...utterances.filter(({ kind }) => kind === "overheard"));
    // Without labels it is another program's prompt, and all of it was said by the one user.
    asked.push(
      ...(utterances.length > 0 ? utterances.filter(({ kind }) => kind === "said") : [{ kind: "said" as const, text }]),
    );
  }
  return { earlier, asked, first };
}

function textOf(message: LanguageModelV3Prompt[number] | undefined): string {
  if (!message || message.role === "system") return "";
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

/** Each line of a summary can be quoted by itself. */
function linesOf(summary: Utterance): Utterance[] {
  return summary.text.split("\n").map((text) => ({ ...summary, text }));
}

/** The newest results, if the prompt ends with some. */
function toolResult(prompt: LanguageModelV3Prompt): string | undefined {
  const last = prompt.at(-1);
  if (last?.role !== "tool") return undefined;
  const lines = last.content.flatMap((part) => {
    if (part.type !== "tool-result") return [];
    const value = "value" in part.output ? part.output.value : "";
    const shown = typeof value === "object" && value !== null ? Object.entries(value) : [["result", value]];
    return [`The tool ${part.toolName} says:`, ...shown.map(([name, item]) => `> ${name}: ${write(item)}`)];
  });
  return lines.join("\n");
}

function write(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
