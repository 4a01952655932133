import type { ToolModelMessage, ToolResultPart } from "ai";
import { cutText } from "./cut-text.ts";

type Output = ToolResultPart["output"];

/** A tool's message, none of whose results has more than `maxLength` characters of text or JSON. */
export function cutResults(message: ToolModelMessage, maxLength: number): ToolModelMessage {
  const content = message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: cutOutput(part.output, maxLength) } : part,
  );
  return { ...message, content };
}

function cutOutput(output: Output, maxLength: number): Output {
  switch (output.type) {
    case "text":
    case "error-text":
      return { ...output, value: cutText(output.value, maxLength) };
    case "json":
    case "error-json": {
      const text = JSON.stringify(output.value);
      const type = output.type === "json" ? "text" : "error-text";
      return text.length > maxLength ? { type, value: cutText(text, maxLength) } : output;
    }
    case "content": {
      const value = output.value.map((part) =>
        part.type === "text" ? { ...part, text: cutText(part.text, maxLength) } : part,
      );
      return { ...output, value };
    }
    default:
      return output;
  }
}
