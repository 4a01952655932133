/** A fenced code block that is open: what closes it, and how it is opened again in the next message. */
export interface Fence {
  /** ``` or ~~~, as many as it was opened with. */
  readonly mark: string;
  readonly language: string;
}

/** How a text ends, with respect to fenced code. */
export interface Ending {
  /** The fence that is open at the end. */
  readonly fence: Fence | undefined;
  /** Where the line begins that opened it, if nothing stands in it yet. */
  readonly emptyFrom: number | undefined;
  /** How many of the marks that would close it stand there already, alone on the last line. */
  readonly begun: number;
}

/** Longer ones are no fences but text, so that what a message needs for its fences stays small. */
const longestMark = 12;
const longestLine = 80;
/** The most that opening and closing a fence adds to a message. */
export const longestClosing = longestMark + 1;

/** What Discord takes as one. */
const languageName = /^[\w+.#-]{1,30}$/;

/** Models put fences into list items too: the marker before the fence belongs to the list. */
const opening = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:(`{3,})[ \t]*([^\s`]*)[^`]*|(~{3,})[ \t]*(\S*).*)$/;

/** The fence that this line opens, if it does (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). */
export function openedBy(line: string): Fence | undefined {
  if (line.length > longestLine) return undefined;
  const match = opening.exec(line);
  const mark = match?.[1] ?? match?.[3];
  if (!match || !mark || mark.length > longestMark) return undefined;
  const language = match[2] ?? match[4] ?? "";
  return { mark, language: languageName.test(language) ? language : "" };
}

/** How many marks of `fence` this line consists of, if it has nothing else; else `undefined`. */
function marksAlone(line: string, fence: Fence): number | undefined {
  const marks = line.trim();
  if (marks === "" || marks.replaceAll(fence.mark.charAt(0), "") !== "") return undefined;
  return marks.length;
}

export function closedBy(line: string, fence: Fence): boolean {
  return (marksAlone(line, fence) ?? 0) >= fence.mark.length;
}

/** Whether this line may still become one that closes the fence. */
export function beginsToClose(line: string, fence: Fence): boolean {
  return (marksAlone(line, fence) ?? fence.mark.length) < fence.mark.length;
}

/** The line that opens the fence again. */
export function openingLine(fence: Fence | undefined): string {
  return fence ? `${fence.mark}${fence.language}\n` : "";
}

/** Reads `text`, which begins inside of `fence` (if any) and does not end in white space. */
export function endingOf(text: string, fence: Fence | undefined): Ending {
  let open = fence;
  let emptyFrom: number | undefined;
  let start = 0;
  let line = "";
  for (;;) {
    const end = text.indexOf("\n", start);
    line = text.slice(start, end < 0 ? undefined : end);
    if (!open) {
      open = openedBy(line);
      if (open) emptyFrom = start;
    } else if (line.trim() !== "") {
      emptyFrom = undefined;
      if (closedBy(line, open)) open = undefined;
    }
    if (end < 0) break;
    start = end + 1;
  }
  if (!open) return { fence: undefined, emptyFrom: undefined, begun: 0 };
  return {
    fence: open,
    emptyFrom,
    begun: emptyFrom === undefined && beginsToClose(line, open) ? line.trim().length : 0,
  };
}

/** What to add so that no fence is open. At the end of all text, a line that began to close it is only completed. */
export function closingOf({ fence, begun }: Ending, { cut }: { cut: boolean }): string {
  if (!fence) return "";
  return begun > 0 && !cut ? fence.mark.slice(begun) : `\n${fence.mark}`;
}
