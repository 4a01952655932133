import type { ModelMessage, ToolResultPart, UserContent } from "ai";
import type { SessionEvent } from "../session/session-event.ts";
import { cutText } from "./cut-text.ts";

/**
 * A part of a conversation for somebody who reads it from outside: one JSON object a line, so that nothing that was said
 * can pass for another line. Texts are cut to `maxLength` characters.
 */
export function transcriptLines(events: readonly SessionEvent[], maxLength: number): string[] {
  return events
    .flatMap((event) => linesOf(event, (text) => cutText(text, maxLength)))
    .map((line) => JSON.stringify(line));
}

function linesOf({ message, author, at, context = [] }: SessionEvent, cut: (text: string) => string): object[] {
  if (message.role !== "user") return spokenBack(message, cut);
  const overheard = context.map(({ author: speaker, text }) => ({ overheard: cut(text), by: speaker.name }));
  const said = textOf(message.content);
  if (said.trim() === "") return overheard;
  return [...overheard, { said: cut(said), ...(author && { by: author.name, id: author.id }), at }];
}

function spokenBack(message: Exclude<ModelMessage, { role: "user" }>, cut: (text: string) => string): object[] {
  if (typeof message.content === "string")
    return message.content.trim() === "" ? [] : [{ answered: cut(message.content) }];
  return message.content.flatMap((part): object[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ answered: cut(part.text) }];
    if (part.type === "tool-call") return [{ called: part.toolName, input: cut(JSON.stringify(part.input)) }];
    if (part.type === "tool-result") return [{ returned: cut(outputText(part.output)), by: part.toolName }];
    return [];
  });
}

function textOf(content: UserContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "[a file]")).join("\n");
}

function outputText(output: ToolResultPart["output"]): string {
  if (!("value" in output)) return output.reason ?? output.type;
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}
