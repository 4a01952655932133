import { decodeUtterances } from "./speaker-label.ts";

/** Fewer would say nothing. */
const fewestInLine = 12;

/**
 * What a model without any knowledge can honestly make of a request for a summary: it quotes the beginning of each thing
 * that was said, behind what it quoted before, within so many words; where these are too few, the oldest lines go.
 */
export function demoSummary(request: string, mostWords: number): string {
  const before = decodeUtterances(request).flatMap(({ kind, text }) => (kind === "summary" ? text.split("\n") : []));
  const all = [...before, ...request.split("\n").flatMap(quote)];
  const inLine = Math.max(fewestInLine, Math.floor(mostWords / all.length));
  const lines = all.map((line) => shorten(line, inLine));
  let start = lines.length;
  for (let words = 0; start > 0; start -= 1) {
    words += (lines[start - 1] as string).split(" ").length;
    if (words > mostWords) break;
  }
  return lines.slice(start).join("\n") || "Nothing was said in words.";
}

/** A line of the transcript, if somebody said something in it. */
function quote(line: string): string[] {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    return [];
  }
  const { said, overheard, by, at } = Object(read);
  const text = said ?? overheard;
  if (typeof text !== "string") return [];
  const when = typeof at === "string" ? ` on ${at.slice(0, 10)}` : "";
  return [`${typeof by === "string" ? by : "Somebody"}${when}: ${text.replaceAll(/\s+/g, " ")}`];
}

function shorten(line: string, mostWords: number): string {
  const words = line.split(" ");
  return words.length > mostWords ? `${words.slice(0, mostWords).join(" ").replace(/…$/, "")}…` : line;
}
