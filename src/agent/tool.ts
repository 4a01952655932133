import { type ZodType, z } from "zod";
import { ThreadkeeperError } from "../errors.ts";
import type { Json, JsonObject } from "../session/plain-json.ts";
import type { Author } from "../session/session-event.ts";

/** What a tool is told about the run that calls it. */
export interface ToolContext {
  /** Aborted at the deadline, by a stop and at shutdown. Hand it on to whatever takes time. */
  readonly signal: AbortSignal;
  /** Who asked; `undefined` when nobody is known or the turn answers several people. */
  readonly author: Author | undefined;
  /** The session's state as it is now. */
  readonly state: JsonObject;
  /** Replaces the session's state; it is stored with the call's result. Only plain JSON. */
  setState(next: JsonObject): void;
}

/**
 * Something that the model may do. A tool that throws does not end the turn: the model reads the message of the error
 * as the call's result and can say so, or try something else.
 */
export interface Tool<Input = never> {
  /** 1 to 64 of `a-z A-Z 0-9 _ -`. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** Describes and checks the input, which is an object; `.describe()` on a field is read by the model. */
  readonly input: ZodType<Input>;
  run(input: Input, context: ToolContext): Promise<Json> | Json;
}

/** Gives a tool its types from its schema. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}

const validName = /^[A-Za-z0-9_-]{1,64}$/;

/** A tool that may be used, with the JSON Schema of what the model has to give. */
export interface CheckedTool {
  readonly tool: Tool;
  readonly inputSchema: z.core.JSONSchema.BaseSchema;
}

/**
 * The tools by name, in one order whatever order they were given in: the list is the same bytes in every call.
 * @throws ThreadkeeperError `TOOL_INVALID`
 */
export function checkTools(tools: readonly Tool[]): ReadonlyMap<string, CheckedTool> {
  const sorted = new Map<string, CheckedTool>();
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!validName.test(tool.name)) throw invalid(tool, "its name is not 1 to 64 of a-z A-Z 0-9 _ -");
    if (sorted.has(tool.name)) throw invalid(tool, "there are two of that name");
    if (tool.description.trim() === "") throw invalid(tool, "it has no description");
    const inputSchema = describeInput(tool);
    if (inputSchema["type"] !== "object") throw invalid(tool, "its input is not an object (z.object)");
    sorted.set(tool.name, { tool, inputSchema });
  }
  return sorted;
}

function describeInput(tool: Tool): z.core.JSONSchema.BaseSchema {
  try {
    return z.toJSONSchema(tool.input, { target: "draft-7", io: "input" });
  } catch (error) {
    throw invalid(tool, "its input cannot be described as JSON Schema", error);
  }
}

function invalid(tool: Tool, why: string, cause?: unknown): ThreadkeeperError {
  return new ThreadkeeperError("TOOL_INVALID", `tool ${JSON.stringify(tool.name)}: ${why}`, {
    fields: { tool: String(tool.name) },
    cause,
  });
}
