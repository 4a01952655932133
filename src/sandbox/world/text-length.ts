/** How long a text is to Discord, which counts characters (code points) and not the units that a string is made of. */
export function textLength(text: string): number {
  return [...text].length;
}
