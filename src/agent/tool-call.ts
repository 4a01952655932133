import type { ToolResultPart } from "ai";
import { z } from "zod";
import { type Json, plainJson } from "../session/plain-json.ts";
import { abortReason, raceAbort } from "./abort-race.ts";
import { cutText } from "./cut-text.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** How much of a result is kept, in characters of text or JSON. */
const maxResultLength = 64_000;

export type ToolOutput = ToolResultPart["output"];

/**
 * Runs one call. A tool that is unknown, gets a wrong input, throws or returns what is not JSON ends as a result that
 * the model reads. Throws only when the run is aborted, also if the tool does not heed the signal.
 */
export async function callTool(tool: Tool | undefined, input: unknown, context: ToolContext): Promise<ToolOutput> {
  if (!tool) return failure("There is no such tool.");
  try {
    const checked = await raceAbort(tool.input.safeParseAsync(input), context.signal);
    if (!checked.success) return failure(`The input is invalid.\n${z.prettifyError(checked.error)}`);
    const result: Json | undefined = await raceAbort(
      Promise.resolve().then(() => tool.run(checked.data, context)),
      context.signal,
    );
    return success(plainJson(result ?? null, "result"));
  } catch (error) {
    if (context.signal.aborted) throw abortReason(context.signal);
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function success(result: Json): ToolOutput {
  const text = typeof result === "string" ? result : JSON.stringify(result);
  if (text.length > maxResultLength || typeof result === "string")
    return { type: "text", value: cutText(text, maxResultLength) };
  return { type: "json", value: result as Extract<ToolOutput, { type: "json" }>["value"] };
}

function failure(message: string): ToolOutput {
  return { type: "error-text", value: cutText(message, maxResultLength) };
}
