const mark = /\n\[cut: (\d{1,12}) more characters\]$/;

/**
 * A text of at most `maxLength` characters, and a line that says how much is missing. What was cut before may be cut
 * shorter: the line counts from the whole.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cutBefore = mark.exec(text);
  const whole = cutBefore ? text.slice(0, cutBefore.index) : text;
  if (whole.length <= maxLength) return text;
  const kept = whole.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
  return `${kept}\n[cut: ${whole.length - kept.length + Number(cutBefore?.[1] ?? 0)} more characters]`;
}
