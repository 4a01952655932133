import { createLogger, type Logger } from "../../src/log.ts";

/** A logger that keeps what it was told, down to `debug`. */
export function logLines(): { readonly log: Logger; readonly lines: { level: number; msg: string }[]; text(): string } {
  const lines: { level: number; msg: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLogger({ level: "debug", destination }), text: () => JSON.stringify(lines) };
}
