/**
 * Makes one message of a model's text safe to show on Discord, never longer than it was: a masked link,
 * `[text](https://…)`, becomes `text <https://…>`, so that it shows where it leads (an injected one could carry the
 * conversation away, or a member to a trap).
 *
 * Code is left as it is where Discord surely shows code. Discord reads emphasis, quotes and lists before code, so
 * that markup which begins outside of a piece of code and ends inside lays the rest of it open; such a piece counts
 * as text (https://github.com/LyricLy/parse-discord has Discord's rules as they were found by trial).
 */
export function safeText(message: string): string {
  let safe = "";
  let text = "";
  const marks = new Set<string>();
  let position = 0;
  const takeText = (part: string) => {
    text += part;
    for (const mark of crossingMarks(part)) marks.add(mark);
  };
  for (const match of message.matchAll(piece)) {
    takeText(message.slice(position, match.index));
    position = match.index + match[0].length;
    const { label = "", target, title } = { ...match.groups };
    if (target !== undefined) {
      takeText(unmasked(label, target, title));
    } else if (crossingMarks(match[0]).some((mark) => marks.has(mark))) {
      takeText(match[0]);
    } else {
      safe += unlinked(text) + match[0];
      text = "";
    }
  }
  takeText(message.slice(position));
  return (safe + unlinked(text)).replace(/\p{Surrogate}/gu, "\ufffd");
}

/** What could begin outside of a piece of code and end inside of it. */
function crossingMarks(text: string): readonly string[] {
  return text.match(/[*_~|`[]/g) ?? [];
}

/** A fenced block at the left edge, a piece of code in a line, or a masked link, whichever comes first. */
const piece = new RegExp(
  [
    /^```(?!`)[^`\n]*\n(?:(?!```)[\s\S])*?\n```(?!`)/,
    /(?<=^|[ \t])(?<tick>`{1,2})(?!`)(?:(?!\k<tick>)[^\n])+\k<tick>(?!`)/,
    /!?\[(?<label>(?:\[[^\]]*\]|[^[\]])*)\]\(\s*<?(?<target>[a-z][a-z\d+.-]*:(?:\([^()\s<>]*\)|[^()\s<>\\])+)>?(?:\s+["'](?<title>[^"')]*)["'])?\s*\)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gim",
);

function unmasked(label: string, target: string, title: string | undefined): string {
  const words = [label === target ? "" : label, title].filter((word) => word?.trim()).join(" ");
  return `${words} <${target}>`.trimStart();
}

/** Whatever else could still be read as a masked link; as long as before. */
function unlinked(text: string): string {
  return text.replace(/\]\((?=\s*[^\s)]*:)/g, "] ");
}
