import type { ZodType } from "zod";
import type { Json, JsonObject } from "../session/plain-json.ts";
import type { Author } from "../session/session-event.ts";

/** What a tool is told about the run that calls it. */
export interface ToolContext {
  /** Aborted at the deadline, by a stop and at shutdown. Hand it on to whatever takes time. */
  readonly signal: AbortSignal;
  /** Who asked, if one person did: the author of the newest input of the turn. */
  readonly author: Author | undefined;
  /** The session's state as it is now. */
  readonly state: JsonObject;
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
  /** Describes and checks the input; `.describe()` on a field is read by the model. */
  readonly input: ZodType<Input>;
  run(input: Input, context: ToolContext): Promise<Json> | Json;
}

/** Gives a tool its types from its schema. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}
