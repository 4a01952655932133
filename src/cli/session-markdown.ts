import type { SessionEvent } from "../session/session-event.ts";
import type { WholeSession } from "../session/whole-session.ts";

type Content = SessionEvent["message"]["content"];
type Part = Exclude<Content, string>[number];

/**
 * A session for people to read. What somebody wrote stands in quotes, so that it can't pass for another's words or for
 * a heading of ours.
 */
export function* sessionMarkdown({ sessionId, events }: WholeSession): Generator<string> {
  yield `# Session ${sessionId}\n\n`;
  for (const event of events) {
    for (const { author, text } of event.context ?? []) yield entry(`${plain(author.name)}, near by`, event.at, text);
    const { role, content } = event.message;
    if (event.erased) yield `*(taken back)*\n\n`;
    else yield entry(event.author ? plain(event.author.name) : names[role], event.at, textOf(content));
  }
}

const names: Readonly<Record<SessionEvent["message"]["role"], string>> = {
  user: "Somebody",
  assistant: "Threadkeeper",
  tool: "Tool",
  system: "System",
};

function entry(who: string, at: string, text: string): string {
  const quoted = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => (line === "" ? ">" : `> ${line}`));
  return `**${who}**, ${at}\n\n${quoted.join("\n")}\n\n`;
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(partText).join("\n");
}

function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `calls ${part.toolName} with ${JSON.stringify(part.input)}`;
    case "tool-result":
      return `${part.toolName} gave ${JSON.stringify(part.output)}`;
    case "file":
      return `[file ${part.filename ?? part.mediaType}]`;
    default:
      return `[${part.type}]`;
  }
}

/** A name is one line, and none of its characters is a sign of Markdown. */
function plain(name: string): string {
  return name.replace(/[\\`*_[\]<>#|~]/g, "\\$&").replace(/\s+/g, " ");
}
