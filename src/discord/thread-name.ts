const longest = 80;
/** Discord's own limit, for which a mark has to leave room. */
const mostCharacters = 100;

/**
 * A thread's name from the words that open it: the first line that has any, without markup. Discord wants 1 to 100
 * characters and trims what can't be seen, so there is always one that can.
 */
export function threadName(text: string, authorName: string): string {
  for (const candidate of [...text.split(/[\r\n\u2028\u2029]+/u).map(plain), plain(`Chat with ${authorName}`)]) {
    if (/[\p{L}\p{N}\p{S}\p{P}]/u.test(candidate)) return shortened(candidate);
  }
  return "Chat";
}

/** The name of a thread that begins with another's memory: the other's, marked and counted, within 100 characters. */
export function forkName(name: string): string {
  const [, base = name, count] = /^(.*) \(fork(?: (\d+))?\)$/u.exec(name) ?? [];
  const isFirst = base === name;
  const mark = isFirst ? " (fork)" : ` (fork ${Number(count ?? 1) + 1})`;
  return base.length + mark.length <= mostCharacters ? base + mark : shortened(base) + mark;
}

/** One line as it would be read aloud. */
function plain(line: string): string {
  return (
    line
      .replace(/<a?(:\w+:)\d+>/g, "$1")
      .replace(/\[([^\]]+)\]\(<?[^)]*>?\)/g, "$1")
      .replace(/^\s*(?:#{1,3}|-#|>{1,3}|[-*+]|\d+\.)\s+/u, "")
      .replace(/[*_~`|\\]+/g, (marks, at: number, whole: string) => (insideWord(marks, at, whole) ? marks : ""))
      // What can't be seen, lone halves of characters too; the joiner inside an emoji stays.
      .replace(/(?:(?!\u200d)[\p{C}\p{Z}\s\u115f\u1160\u2800\u3164\uffa0])+/gu, " ")
      .trim()
  );
}

/** `snake_case` is a word; `_emphasis_` is markup. */
function insideWord(marks: string, at: number, whole: string): boolean {
  return marks === "_" && /\w/.test(whole[at - 1] ?? "") && /\w/.test(whole[at + 1] ?? "");
}

/** Cut between words where there is one to cut at, and never within a character. */
function shortened(name: string): string {
  if (name.length <= longest) return name;
  const cut = name.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "");
  const atWord = cut.replace(/\s+\S*$/, "");
  return `${(atWord.length > longest / 2 ? atWord : cut).trimEnd()}…`;
}
