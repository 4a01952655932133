import { createLogger, type Logger } from "../../../src/log.ts";

/** A logger whose lines can be read, as "level: message". */
export function logLines(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const names: Record<number, string> = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line);
    lines.push(`${names[level]}: ${msg}`);
  };
  return { log: createLogger({ level: "trace", secrets: [], destination: { write } }), lines };
}
